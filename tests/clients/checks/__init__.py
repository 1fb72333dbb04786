"""The groups of checks; each module has a `run(bench)`."""
