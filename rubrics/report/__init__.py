"""The static report and the answer to "why this reward"."""
