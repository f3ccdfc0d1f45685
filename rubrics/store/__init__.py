"""The store: Parquet parts, a manifest, DuckDB views. The home of pyarrow and, with `rules`, of DuckDB."""
