"""Authors write rubrics from studied attempts and the spec. One interface; `builtin` needs no model."""
