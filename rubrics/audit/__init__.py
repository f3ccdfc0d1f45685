"""Audit: rules over transcript and patch that find leaks of the answer and gaming of the grader. Pure."""
