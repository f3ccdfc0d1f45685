"""Judges give verdicts. One interface; `builtin` evaluates rule criteria and needs no model."""
