"""Readers of rollout dumps, one module per form, and the join of what they find."""
