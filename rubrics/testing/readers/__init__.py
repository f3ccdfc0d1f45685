"""Readers of test output, one per form; each takes text and gives `Results`."""
