"""The one thread that writes a cache, many entries to a transaction."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from typing import Any

LINGER = 0.05
"""Seconds for which writes are collected: a killed process loses no more than the replies of that time."""
PUT = "insert or replace into {} (key, value, crc) values (?, ?, ?)"
ADD = (
    "insert into spending (session, at, model, purpose, kind, prompt, cached, completion, cost, estimate) "
    "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class Writer:
    """`pending` holds what is not yet written, by table and key. `error` is what ended the writing, if anything did."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.pending: dict[tuple[str, str], bytes] = {}
        self.error: Exception | None = None
        self._connection = connection
        self._puts: list[tuple[str, str, bytes, int]] = []
        self._adds: list[tuple[Any, ...]] = []
        self._lock = threading.Lock()
        self._some, self._ended = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="model-cache", daemon=True)
        self._thread.start()

    def put(self, table: str, key: str, value: bytes, crc: int) -> None:
        with self._lock:
            self.pending[table, key] = value
            self._puts.append((table, key, value, crc))
        self._some.set()

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        with self._lock:
            self._adds += rows
        self._some.set()

    def close(self) -> None:
        """Write what is left and end."""
        self._ended.set()
        self._some.set()
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        while not self._ended.is_set():
            self._some.wait()
            self._ended.wait(LINGER)
            self._some.clear()
            self._write()
        self._write()

    def _write(self) -> None:
        with self._lock:
            puts, self._puts, adds, self._adds = self._puts, [], self._adds, []
        if self.error is not None or not (puts or adds):
            return
        try:
            with self._connection:
                for table in {put[0] for put in puts}:
                    rows = [put[1:] for put in puts if put[0] == table]
                    self._connection.executemany(PUT.format(table), rows)
                self._connection.executemany(ADD, adds)
        except sqlite3.Error as error:
            self.error = error
            return
        with self._lock:
            for table, key, value, _ in puts:
                if self.pending.get((table, key)) is value:
                    del self.pending[table, key]
