"""The channel of a shell in a container: the engine's attached streams, taken apart into frames."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
from collections.abc import Callable
from typing import Any

from rubrics.environments.kept_shell import Broken


class DockerChannel:
    """The attached streams of a container: frames of stream 1 and 2."""

    def __init__(self, attached: Any, is_there: Callable[[], bool]) -> None:
        self._attached = attached
        self.is_there = is_there
        self._socket: socket.socket = getattr(attached, "_sock", attached)
        self._socket.setblocking(True)
        self._poll = select.poll()
        self._poll.register(self._socket.fileno(), select.POLLIN)
        self._buffer = bytearray()

    def send(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise Broken(str(error)) from None

    def receive(self, timeout: float) -> tuple[int, bytes] | None:
        frame = self._frame()
        if frame is None and self._poll.poll(max(0.0, timeout) * 1000):
            try:
                data = self._socket.recv(1 << 18)
            except OSError as error:
                raise Broken(str(error)) from None
            if not data:
                raise Broken("the container's streams have ended")
            self._buffer += data
            frame = self._frame()
        return frame

    def _frame(self) -> tuple[int, bytes] | None:
        """The first whole frame of the buffer: a byte for the stream, three of nothing, four of length."""
        if len(self._buffer) < 8:
            return None
        stream, size = struct.unpack(">BxxxL", self._buffer[:8])
        if len(self._buffer) < 8 + size:
            return None
        data = bytes(self._buffer[8 : 8 + size])
        del self._buffer[: 8 + size]
        return stream, data

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._attached.close()
            self._socket.close()
