"""What the checks stand on: the report, the product under test, the wire, the clients' plans."""
