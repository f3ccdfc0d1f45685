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
      tables/<table>/<digest>.parquet    parts, named after their bytes
      history/<commit>.json          what the manifest said at every commit
      files/<digest>                 texts that were written with commits
      work/<stage>/<key>.json        finished chunks of a stage that has not ended
      .pending/<commit>/             files of a commit that are not in place yet
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

    @property
    def history(self) -> Path:
        return self.root / "history"

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def pending(self) -> Path:
        return self.root / ".pending"

    def file(self, digest: str) -> Path:
        """A text that was written with a commit."""
        return self.root / "files" / digest

    def part(self, table: str, digest: str) -> Path:
        return self.tables / table / f"{digest}.parquet"

    def rubric(self, safe_task: str, kind: Kind) -> Path:
        """`safe_task` is a name made by `rubrics.ingest.names.safe_name`."""
        return self.rubrics / f"{safe_task}.{kind}.yaml"
