"""A model at work with tools: the loop, its bounds, and the tools that look at an environment or an attempt."""
