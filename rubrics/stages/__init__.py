"""Stages: each reads tables and writes its own; nothing is edited in place."""
