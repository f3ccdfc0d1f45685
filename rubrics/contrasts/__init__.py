"""Contrasts: measurements of a rollout against the studied attempts of its task. Pure."""
