"""Facts: deterministic measurements of one rollout alone. Pure: values in, values out."""
