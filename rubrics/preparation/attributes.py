"""Extended attributes of files, read and removed by a program of ours for whichever interpreter the environment has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rubrics.preparation.shell import Shell, quote

_READ_PYTHON = """
import os, sys
for path in sys.stdin.buffer.read().split(b"\\0"):
    try:
        for name in os.listxattr(path, follow_symlinks=False):
            value = os.getxattr(path, name, follow_symlinks=False).hex().encode()
            sys.stdout.buffer.write(b"\\0".join((path, os.fsencode(name), value, b"")))
    except (OSError, ValueError):
        pass
"""
_STRIP_PYTHON = """
import os, sys
words = iter(sys.stdin.buffer.read().split(b"\\0")[:-1])
for path, name in zip(words, words):
    os.removexattr(path, name, follow_symlinks=False)
"""
_CALLS = "use POSIX (); my %n = (x86_64 => [195, 192, 198], aarch64 => [12, 9, 15]); my $n = $n{(POSIX::uname())[4]};"
"""Numbers of the calls llistxattr, lgetxattr and lremovexattr."""
_READ_PERL = (
    _CALLS
    + r"""
$/ = "\0";
while (my $path = <STDIN>) {
  chomp $path; my $names = "\0" x 65536;
  my $size = syscall($n->[0], $path, $names, 65536); next if $size <= 0;
  for my $name (split /\0/, substr($names, 0, $size)) {
    my $value = "\0" x 65536; my $length = syscall($n->[1], $path, $name, $value, 65536); next if $length < 0;
    print join("\0", $path, $name, unpack("H*", substr($value, 0, $length)), "");
  }
}
"""
)
_STRIP_PERL = (
    _CALLS
    + r"""
$/ = "\0";
while (my $path = <STDIN>) {
  my $name = <STDIN>; chomp $path; chomp $name; syscall($n->[2], $path, $name) == 0 or exit 1;
}
"""
)
_PYTHONS = "python3 /usr/local/bin/python3 /opt/*/bin/python3 /opt/*/envs/*/bin/python3 /root/*/bin/python3"


class Attribute(NamedTuple):
    path: str
    name: str
    value: bytes


def attributes(shell: Shell, root: str, pruned: Iterable[str]) -> list[Attribute] | None:
    """Attributes of everything below the root, but of pruned folders; null where no program can read any."""
    skipped = " -o ".join(f"-path {quote(path)}" for path in pruned)
    listed = f"find {quote(root)} -mindepth 1 \\( {skipped} \\) -prune -o -print0"
    program = _program(shell, _READ_PYTHON, _READ_PERL)
    if program is None:
        return None
    words = iter(b"".join(shell.whole(f"{listed} | {program}")).split(b"\0")[:-1])
    found = zip(words, words, words, strict=False)
    return [
        Attribute(_text(path).replace("//", "/"), _text(name), bytes.fromhex(_text(value)))
        for path, name, value in found
    ]


def strip(shell: Shell, path: str, names: Iterable[str]) -> None:
    """Remove attributes of a file or folder; whether they are gone is for the next look."""
    program = _program(shell, _STRIP_PYTHON, _STRIP_PERL)
    if program is not None:
        shell.with_names([word for name in names for word in (path, name)], program)


def _program(shell: Shell, python: str, perl: str) -> str | None:
    """The start of a command that runs one of the two programs, isolated from what lies about."""
    found = shell.run(
        f'for p in {_PYTHONS}; do "$p" -I -S -c "" 2>/dev/null && echo "$p" && break; done'
    ).output.strip()
    if found:
        return f"{quote(found)} -I -S -c {quote(python)}"
    if shell.run(f"perl -e {quote(_CALLS + 'exit(defined $n ? 0 : 1)')}").exit_code == 0:
        return f"perl -e {quote(perl)}"
    return None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
