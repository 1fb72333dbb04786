"""What the checks are on: the report, the product under test, the wire, the clients' plans."""
