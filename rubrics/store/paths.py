"""Every path of a store, in one frozen object."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rubrics.records.rubrics import Kind


@dataclass(frozen=True, slots=True)
class StorePaths:
    """A store on disk:

    ```
    <root>/
      manifest.json                  what is current; written last
      views.sql                      `duckdb -init views.sql` started here
      report.html
      rubrics/<task>.<kind>.yaml     the rubrics, for people to read and edit
      tables/<table>/<run>-<n>-<digest>.parquet
      .lock                          held by the one process that writes
    ```
    """

    root: Path

    @property
    def manifest(self) -> Path:
        return self.root / "manifest.json"

    @property
    def views(self) -> Path:
        return self.root / "views.sql"

    @property
    def report(self) -> Path:
        return self.root / "report.html"

    @property
    def rubrics(self) -> Path:
        return self.root / "rubrics"

    @property
    def tables(self) -> Path:
        return self.root / "tables"

    @property
    def lock(self) -> Path:
        return self.root / ".lock"

    def part(self, table: str, run_id: str, number: int, digest: str) -> Path:
        return self.tables / table / f"{run_id}-{number:05d}-{digest}.parquet"

    def rubric(self, safe_task: str, kind: Kind) -> Path:
        """`safe_task` is a name made by `rubrics.ingest.names.safe_name`."""
        return self.rubrics / f"{safe_task}.{kind}.yaml"
