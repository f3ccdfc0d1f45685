"""Files of a sandbox, read from outside: through the root folder of its first process, as the kernel shows it.

No program of the sandbox is run, so what a rollout has put in place of `cat`, or of its libraries, has no say. Paths
are resolved by the kernel inside that root, links too.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
from pathlib import Path

_OPENAT2 = 437  # on every architecture
_NO_MAGIC_LINKS, _IN_ROOT = 0x02, 0x10
_TRIES = 20
_C = ctypes.CDLL(None, use_errno=True)


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def root_of(process: int) -> Path | None:
    """The root folder of a process of this machine; null where it may not be looked into."""
    root = Path(f"/proc/{process}/root")
    try:
        os.close(_open_in(os.open(root, os.O_PATH), "/"))
    except OSError:
        return None
    return root


def read_inside(root: Path, path: str, limit: int) -> bytes:
    """Content of the file at the absolute `path` below `root`.

    Raises `FileNotFoundError` where no regular file is, `OSError` for one of more than `limit` bytes.
    """
    try:
        file = _open_in(os.open(root, os.O_PATH), path)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG):
            raise FileNotFoundError(path) from None
        raise
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise FileNotFoundError(path)
    with os.fdopen(file, "rb") as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise too_large(path, limit)
    return data


def too_large(path: str, limit: int) -> OSError:
    return OSError(errno.EFBIG, f"larger than {limit:,} bytes", path)


def _open_in(root: int, path: str) -> int:
    """Open for reading below `root`, which is closed."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    how = _How(flags, 0, _IN_ROOT | _NO_MAGIC_LINKS)
    try:
        for _ in range(_TRIES):
            found: int = _C.syscall(_OPENAT2, root, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
            if found >= 0:
                return found
            code = ctypes.get_errno()
            if code != errno.EAGAIN:
                break
        raise OSError(code, os.strerror(code), path)
    finally:
        with contextlib.suppress(OSError):
            os.close(root)
