"""Preparation: an environment is freed of what gives its task's answer away, and that is proved."""
