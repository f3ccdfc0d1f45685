"""Runs a test command as its child and says, on its own output, what the recorder in the child's processes reported.

Called as `python3 monitor.py` beside `monitor.json` (`command`, `nonce`). The code under test never holds the output
that the report is written to, nor the nonce that marks it: its own output is a pipe that this process copies.
"""
# mypy: ignore-errors

import base64
import ctypes
import json
import os
import selectors
import subprocess
import zlib

SESSIONS = 32
"""Runs of a test runner in one command that can report: each takes one secret."""
MOST = 64 << 20
"""Bytes of reports that are kept."""
DUMPABLE, SUBREAPER = 4, 36


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "monitor.json"), encoding="utf-8") as file:
        config = json.load(file)
    os.remove(file.name)
    os.remove(os.path.abspath(__file__))
    close_to_others()
    secrets = [os.urandom(16).hex() for _ in range(SESSIONS)]
    secret_end, secrets_in = os.pipe()
    reports, report_end = os.pipe()
    os.write(secrets_in, "".join(secrets).encode())
    os.close(secrets_in)
    env = dict(os.environ, RUBRICS_RECORDER=f"{report_end}:{secret_end}:{os.fstat(report_end).st_ino}")
    env["PYTHONPATH"] = os.pathsep.join([here, *filter(None, [env.get("PYTHONPATH")])])
    child = subprocess.Popen(
        ["/bin/sh", "-c", config["command"]],
        env=env,
        pass_fds=(report_end, secret_end),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    os.close(report_end)
    os.close(secret_end)
    said = listen(child, reports)
    code = child.wait()
    text = json.dumps({"code": code, "sessions": sessions_of(said, secrets), "whole": len(said) <= MOST})
    packed = base64.b64encode(zlib.compress(text.encode(), 6)).decode()
    copy("\n{} {}\n".format(config["nonce"], packed).encode())
    os._exit(code if code >= 0 else 128 - code)


def close_to_others():
    """No other process of this user may read this one's memory or open its files."""
    try:
        libc = ctypes.CDLL(None)
        libc.prctl(DUMPABLE, 0, 0, 0, 0)
        libc.prctl(SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):
        pass


def listen(child, reports):
    """Copy the child's output and gather its reports until the child has ended; what others still hold is left."""
    said = bytearray()
    output = child.stdout.fileno()
    selector = selectors.DefaultSelector()
    for end in (output, reports):
        os.set_blocking(end, False)
        selector.register(end, selectors.EVENT_READ)
    ended = False
    while selector.get_map():
        ready = [key.fd for key, _ in selector.select(0 if ended else 0.05)]
        if not ready:
            if ended:
                break
            ended = child.poll() is not None
        for end in ready:
            try:
                data = os.read(end, 1 << 16)
            except BlockingIOError:
                continue
            if not data:
                selector.unregister(end)
            elif end == output:
                copy(data)
            elif len(said) <= MOST:
                said += data
    return bytes(said)


def copy(data):
    while data:
        data = data[os.write(1, data) :]


def sessions_of(said, secrets):
    """The rows of each session, in their order. A row that no secret opens was not written by the recorder."""
    rows = {}
    for line in said.split(b"\n"):
        secret, _, rest = line.partition(b" ")
        try:
            name = secret.decode("ascii")
            row = json.loads(rest.decode("ascii")) if name in secrets else None
        except ValueError:
            row = None
        if row is not None:
            rows.setdefault(name, []).append(row)
    return [rows[name] for name in secrets if name in rows]


main()
