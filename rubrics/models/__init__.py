"""The model client: the one place that talks to a model."""
