"""What its way here did to a patch that cannot be undone, told from a patch that was wrong to begin with.

Dumps lose bytes of patches: readers that know one line end drop carriage returns, readers that know one encoding
replace what is no UTF-8. Such a patch fits nowhere, and its attempt is not to blame. But `infra` is nothing an attempt
may choose, so the loss has to be proved:

- the patch carries git's digest of the content that it was made on, and that is the content which stands here;
- the old lines of every hunk stand at their place, but for what such a reader loses;
- nothing else keeps any part of the patch from fitting.

What does not prove this is the attempt's own. An attempt that writes its patch by hand can still prove it, where the
repository holds such a file, by dropping the bytes itself: it looks no different. It has a class of its own in the
census (`patch_damaged`), so that it can be counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha1, sha256

from rubrics.environments.patch_text import Hunk, Section

_REPLACED = re.compile("[\ufffd?]+")


def lost_in(sections: tuple[Section, ...], base: Callable[[str], bytes | None]) -> str | None:
    """What was lost, for people, where that alone keeps the patch from fitting; null where that is not proved.

    `base` gives the content of a file that the patch was put on, null where there is none.
    """
    lost = None
    for section in sections:
        if not section.hunks or not section.old:
            continue  # nothing of its own to fit on
        content = base(section.old)
        if content is None:
            return None
        lines = content.split(b"\n")
        if _fits(section.hunks, lines, _same):
            continue
        if not _made_on(section.old_id, content) or not _fits(section.hunks, lines, _same_but_for_loss):
            return None
        returns = _fits(section.hunks, lines, _same_but_for_returns)
        lost = f"{'carriage returns' if returns else 'bytes that are no UTF-8'} of {section.old}"
    return lost


def _made_on(old_id: str, content: bytes) -> bool:
    blob = b"blob %d\0%s" % (len(content), content)
    return bool(old_id) and any(digest(blob).hexdigest().startswith(old_id) for digest in (sha1, sha256))


def _fits(hunks: list[Hunk], lines: list[bytes], same: Callable[[bytes, str], bool]) -> bool:
    for hunk in hunks:
        old = [line[1:] for line in hunk.lines if line[:1] in ("-", " ", "")]
        there = lines[max(0, hunk.start - 1) :][: len(old)]
        if len(there) < len(old) or not all(same(*pair) for pair in zip(there, old, strict=True)):
            return False
    return True


def _same(line: bytes, text: str) -> bool:
    return line == text.encode("utf-8", "surrogatepass")


def _same_but_for_returns(line: bytes, text: str) -> bool:
    return _same(line.rstrip(b"\r"), text.rstrip("\r"))


def _same_but_for_loss(line: bytes, text: str) -> bool:
    """Whether a reader that knows one line end, or takes bytes for another encoding's, makes the text of the line."""
    if _same_but_for_returns(line, text):
        return True
    line, text = line.rstrip(b"\r"), text.rstrip("\r")
    if line.isascii():
        return False
    read = line.decode("utf-8", "replace")
    replaced = {_REPLACED.sub("?", read), _REPLACED.sub("?", read.encode("ascii", "replace").decode())}
    dropped = {line.decode("utf-8", "ignore"), line.decode("ascii", "ignore")}
    mistaken = {line.decode("latin-1"), line.decode("cp1252", "replace")}
    return text in dropped | mistaken or _REPLACED.sub("?", text) in replaced
