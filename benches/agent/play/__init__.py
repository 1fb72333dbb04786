"""Plays written-down agent calls on MCP servers and counts what they cost."""
