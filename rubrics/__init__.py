"""Rubric synthesis, scoring and reward tables for stored attempts of code agents."""

__version__ = "0.1.0"
