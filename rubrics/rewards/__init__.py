"""The reward engine: arrays in, arrays out, numpy only. Every formula is of the method's section 2."""
