"""Ranking the passes of a group: orders, labels, slices, aggregation, position bias. Pure."""
