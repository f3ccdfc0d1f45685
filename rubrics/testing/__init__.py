"""Hidden tests run in a rollout's own environment, and what they said."""
