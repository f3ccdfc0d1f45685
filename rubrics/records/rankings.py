"""What a ranking says of a candidate (method 3): names that replies, rows and the reward engine share."""

from __future__ import annotations

CHECKS = ("approach", "precision", "minimality", "side_effects", "craftsmanship")
"""From 1 to 5, 5 is best; in the order of their weights."""
WEIGHTS = (6, 5, 4, 3, 2)
"""W = 6 approach + 5 precision + 4 minimality + 3 side effects + 2 craftsmanship, from 20 to 100."""
FLAGS = ("unrequested_rewrite", "test_workaround", "severe_process_issue", "unresolved_regression")
"""True only where evidence shows it."""
