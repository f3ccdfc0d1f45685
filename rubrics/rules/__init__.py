"""Rule criteria: the allow-list of their language, their evaluation, and the files they are kept in."""
