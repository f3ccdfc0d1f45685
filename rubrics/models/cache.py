"""What a model was already asked: replies, finished work and the account of spending, in one SQLite file.

Any number of processes may use it at once. Whoever stores something waits until it is written (`writing.py`): a killed
process loses nothing that anybody has used. Failures are never stored. A damaged entry counts as missing.
"""

from __future__ import annotations

import sqlite3
import threading
import zlib
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rubrics.errors import StoreError
from rubrics.models.writing import Writer

VERSION = 1
PATIENCE = 60.0
"""Seconds for which a write waits while other processes write."""
TABLES = """
create table if not exists replies (key text primary key, value blob not null, crc integer not null);
create table if not exists finished (key text primary key, value blob not null, crc integer not null);
create table if not exists answering (model text primary key, answered text not null);
create table if not exists spending (
  id integer primary key, session text not null, at real not null, model text not null, purpose text not null,
  kind text not null, prompt integer, cached integer, completion integer, cost real, estimate real
);
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """One request that was paid, or may have been."""

    at: float
    """Seconds of the epoch."""
    model: str
    purpose: str
    kind: str
    """`ok`: an answer came, whatever a reader then said of it; `empty`, `refused`, `truncated`: one of no use came;
    `timeout`, `connection`, `given_up`: none came, yet it may be paid."""
    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None
    cost: float | None = None
    """Dollars; null when not known."""
    estimate: float | None = None
    """Dollars that a budget counts where the cost is not known; null when no price is known."""


class Cache:
    """Raises `StoreError` when the file cannot be used."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._reader = connect(path)
            prepare(self._reader)
            self._writer = Writer(connect(path), partial(unusable, path))
        except (sqlite3.Error, OSError) as error:
            raise unusable(path, error) from None

    def reply(self, key: str) -> bytes | None:
        """The stored reply; null when there is none, or none that is whole."""
        return self._get("replies", key)

    def finished(self, key: str) -> str | None:
        """The finished work stored under a key."""
        value = self._get("finished", key)
        return None if value is None else value.decode("utf-8", "surrogatepass")

    def _get(self, table: str, key: str) -> bytes | None:
        with self._lock:
            try:
                found = self._reader.execute(f"select value, crc from {table} where key = ?", (key,)).fetchone()
            except sqlite3.Error as error:
                raise unusable(self.path, error) from None
        whole = found is not None and isinstance(found[0], bytes) and zlib.crc32(found[0]) == found[1]
        return found[0] if whole else None

    def put_reply(self, key: str, value: bytes) -> Future[None]:
        """Done when the reply is on record, and found by `reply`. Fails with `StoreError` when it cannot be."""
        return self._writer.put("replies", key, value, zlib.crc32(value))

    def drop_replies(self, keys: Iterable[str]) -> Future[None]:
        """The same for taking replies away."""
        return self._writer.drop("replies", keys)

    def put_finished(self, key: str, value: str) -> Future[None]:
        """The same for finished work."""
        data = value.encode("utf-8", "surrogatepass")
        return self._writer.put("finished", key, data, zlib.crc32(data))

    def spend(self, session: str, items: Iterable[Spent]) -> None:
        """Add to the account, on record with what is stored next; the session tells this client's entries from those of
        others."""
        fields = Spent.__slots__
        self._writer.add([(session, *(getattr(item, name) for name in fields)) for item in items])

    def spent(self, other_than: str = "", after: int = 0) -> tuple[float, int]:
        """Dollars in the account by other sessions, beyond an entry, and the last entry. Unknown costs count with
        their estimate, and with nothing where there is none."""
        dollars_of = "total(case when session <> ? then coalesce(cost, estimate) end)"
        query = f"select {dollars_of}, max(id) from spending where id > ?"
        with self._lock:
            try:
                dollars, last = self._reader.execute(query, (other_than, after)).fetchone()
            except sqlite3.Error as error:
                raise unusable(self.path, error) from None
        return dollars, last or after

    def answering(self, model: str, answered: str) -> str:
        """The name under which a model (with its endpoint) answered first; `answered` becomes it if there is none."""
        with self._lock:
            try:
                with self._reader:
                    self._reader.execute("insert or ignore into answering values (?, ?)", (model, answered))
                found = self._reader.execute("select answered from answering where model = ?", (model,)).fetchone()
            except sqlite3.Error as error:
                raise unusable(self.path, error) from None
        return str(found[0])

    def close(self) -> None:
        """Write what is pending. Raises `StoreError` when that fails."""
        self._writer.close()
        with self._lock:
            self._reader.close()
        self.check()

    def check(self) -> None:
        """Raises `StoreError` when nothing can be written any more: nothing should then be paid for."""
        if self._writer.error is not None:
            raise self._writer.error


def connect(path: Path) -> sqlite3.Connection:
    """A connection that waits for other writers, and survives a killed process without a sync per write."""
    made = sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False)
    made.execute("pragma journal_mode = wal")
    made.execute("pragma synchronous = normal")
    return made


def prepare(connection: sqlite3.Connection) -> None:
    """Make the tables. Raises `StoreError` for a file of another version."""
    (version,) = connection.execute("pragma user_version").fetchone()
    if version not in (0, VERSION):
        raise StoreError(f"the cache has version {version}, this program writes {VERSION}; use another file")
    with connection:
        connection.executescript(TABLES)
        connection.execute(f"pragma user_version = {VERSION}")


def unusable(path: Path, error: Exception) -> StoreError:
    """What to say, and do, about an error of the database."""
    remedy = (
        "Free the disk or restore the file if it can be; otherwise move it away: what it held is then asked, and paid, "
        "again"
    )
    if "locked" in str(error):
        remedy = f"For {PATIENCE:g} s another program has kept it locked: end that, and run again"
    return StoreError(f"{path}: the cache of model replies cannot be used ({error}). {remedy}")
