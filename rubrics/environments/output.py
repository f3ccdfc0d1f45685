"""Output of a command, bounded: its beginning and its end are kept, what lies between is counted."""

from __future__ import annotations

CUT = b"\n[... output cut here ...]\n"


class KeptOutput:
    """Keeps a quarter of `keep` bytes from the start, the rest from the end."""

    def __init__(self, keep: int) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._head_size = keep // 4
        self._tail_size = keep - self._head_size
        self._lost = False
        self.total = 0

    @property
    def truncated(self) -> bool:
        return self._lost

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = self._head_size - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._tail_size + 4096:
            self._trim()

    def ends_with(self, mark: bytes) -> bool:
        joined = self._tail if len(self._tail) >= len(mark) else self._head[-len(mark) :] + self._tail
        return bytes(joined[-len(mark) :]) == mark

    def drop(self, size: int) -> None:
        """Take the last `size` bytes away."""
        from_tail = min(size, len(self._tail))
        del self._tail[len(self._tail) - from_tail :]
        if size > from_tail:
            del self._head[len(self._head) - (size - from_tail) :]

    def bytes(self) -> bytes:
        if len(self._tail) > self._tail_size:
            self._trim()
        return bytes(self._head) + (CUT if self._lost else b"") + bytes(self._tail)

    def _trim(self) -> None:
        del self._tail[: len(self._tail) - self._tail_size]
        self._lost = True
