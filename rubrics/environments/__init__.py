"""Environments: where a rollout's own state is rebuilt and commands run, isolated from this machine."""
