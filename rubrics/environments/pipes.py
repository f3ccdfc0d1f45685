"""The channel of a shell that is a child of this process."""

from __future__ import annotations

import os
import select
import subprocess

from rubrics.environments.kept_shell import Broken


class PipeChannel:
    """Standard input, output and error of a process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise ValueError("the process needs three pipes")
        self._process = process
        self._input = process.stdin
        self._outputs = {process.stdout.fileno(): 1, process.stderr.fileno(): 2}
        self._poll = select.poll()
        for descriptor in self._outputs:
            self._poll.register(descriptor, select.POLLIN)

    def send(self, data: bytes) -> None:
        try:
            self._input.write(data)
            self._input.flush()
        except OSError as error:
            raise Broken(str(error)) from None

    def receive(self, timeout: float) -> tuple[int, bytes] | None:
        for descriptor, _ in self._poll.poll(max(0.0, timeout) * 1000):
            try:
                data = os.read(descriptor, 1 << 16)
            except OSError as error:
                raise Broken(str(error)) from None
            if not data:
                raise Broken("the shell has ended")
            return self._outputs[descriptor], data
        return None

    def is_there(self) -> bool:
        return self._process.poll() is None
