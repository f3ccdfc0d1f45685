"""The one thread that writes a cache. What is put while a transaction is written makes up the next one, so that the
replies of many requests under way cost one write; nobody waits for more to come."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, NamedTuple

MOST = 256
"""Entries of one transaction: another process gets its turn to write."""
DROP = "delete from {} where key = ?"
PUT = "insert or replace into {} (key, value, crc) values (?, ?, ?)"
ADD = (
    "insert into spending (session, at, model, purpose, kind, prompt, cached, completion, cost, estimate) "
    "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class Entry(NamedTuple):
    """One statement with its rows, and what waits for it."""

    statement: str
    rows: list[tuple[Any, ...]]
    done: Future[None]


class Writer:
    """Writes in the order of putting. `error` is what ended the writing, if anything did: nothing is written after."""

    def __init__(self, connection: sqlite3.Connection, failed: Callable[[Exception], Exception]) -> None:
        """`failed` makes the error that those who wait get, from that of the database."""
        self.error: Exception | None = None
        self._connection = connection
        self._failed = failed
        self._closed = False
        self._entries: SimpleQueue[Entry | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="model-cache", daemon=True)
        self._thread.start()

    def put(self, table: str, *row: Any) -> Future[None]:
        """A row under its key. Done when it is written: from then on no end of this process can lose it."""
        return self._put(PUT.format(table), [row])

    def drop(self, table: str, keys: Iterable[str]) -> Future[None]:
        """Take away the rows under these keys."""
        return self._put(DROP.format(table), [(key,) for key in keys])

    def add(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Rows of the account; written no later than what is put after them."""
        self._put(ADD, list(rows))

    def _put(self, statement: str, rows: list[tuple[Any, ...]]) -> Future[None]:
        if self._closed:
            raise RuntimeError("the cache is closed; nothing more is written")
        entry = Entry(statement, rows, Future())
        self._entries.put(entry)
        return entry.done

    def close(self) -> None:
        """Write what is left and end."""
        self._closed = True
        self._entries.put(None)
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        ended = False
        while not ended:
            taken = [self._entries.get()]
            while len(taken) < MOST and not self._entries.empty():
                taken.append(self._entries.get())
            ended = taken[-1] is None
            self._write([entry for entry in taken if entry is not None])

    def _write(self, entries: list[Entry]) -> None:
        try:
            if self.error is None:
                with self._connection:
                    for entry in entries:
                        self._connection.executemany(entry.statement, entry.rows)
        except sqlite3.Error as error:
            self.error = self._failed(error)
        for entry in entries:
            if not entry.done.set_running_or_notify_cancel():
                continue
            if self.error is None:
                entry.done.set_result(None)
            else:
                entry.done.set_exception(self.error)
