"""Trainer files: the reward table with prompts and completions, in the form each trainer loads."""
