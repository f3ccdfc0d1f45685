"""Reading dumps: which reader takes which file, and the whole of ingest as one stream."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rubrics.errors import InputError
from rubrics.ingest import aider, exit_files, harness, outcome_files
from rubrics.ingest.account import READ_AS, UNREAD
from rubrics.ingest.documents import Limits, lines_of, read_bytes
from rubrics.ingest.items import FileRef, Item, Note, Source, note_of
from rubrics.ingest.join import Ingested, join
from rubrics.ingest.json_files import FileName, read_json, read_rows
from rubrics.ingest.parquet import rows_of
from rubrics.ingest.tally import Tally
from rubrics.ingest.walk import files_of
from rubrics.records.census import CensusLine

SEALED_NAMES = re.compile(
    r"(?:developer|gold|reference|solution|test)[\w-]*\.(?:diff|patch)|eval\.sh|solve\.sh"
    r"|test[_-](?:output|stdout|stderr)\.txt|run_instance\.log|(?:.*[._-])?(?:eval|tests?)(?:[._-].*)?\.log",
    re.IGNORECASE,
)
"""Files beside attempts that give the answer away, or are logs of hidden tests; never read."""

_ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf", b"Rar!")


def ingest(
    dumps: Sequence[Path],
    group_by: str = "task",
    limits: Limits | None = None,
    *,
    trust_recorded: bool = False,
    wanted: Callable[[str], bool] = lambda task_id: True,
) -> Iterator[Ingested]:
    """Everything that the dumps hold of the `wanted` tasks, in one pass; census lines come last, equal ones added up.

    Transcripts are passed on one at a time. `group_by` is `task` or `task,policy`; a dump's own group ids win.
    `trust_recorded`: what a publisher's row says was measured of its own attempt is an outcome, `recorded:<reader>`.
    Raises `UsageError` when a dump does not exist or `group_by` is another word.
    """
    tally = Tally()
    files: list[FileRef] = []
    for number, dump in enumerate(dumps):
        for entry in files_of(dump, number):
            if isinstance(entry, Note):
                tally.add(entry)
            else:
                files.append(entry)
    files.sort(key=_turn_to_be_read)
    items = (item for file in files for item in read_file(file, limits or Limits(), trust_recorded))
    for record in join(items, group_by, wanted):
        if isinstance(record, (Note, CensusLine)):
            tally.add(record)
        else:
            yield record
    yield from tally.lines()


def read_file(file: FileRef, limits: Limits, trust_recorded: bool = False) -> Iterator[Item]:
    """What one file holds, and whether anything in it was read. A file that cannot be used costs itself."""
    seen: set[tuple[str, str]] = set()
    for item in _read_or_note(file, limits, trust_recorded):
        if isinstance(item, Note):
            seen.add((item.subject, item.kind))
        yield item
    if any(("file", kind) in seen for kind in (READ_AS, *UNREAD)):
        return
    if ("row", READ_AS) in seen:
        yield Source(file).note(READ_AS, "rows", topic="rows")
    elif any(("row", kind) in seen for kind in UNREAD):
        yield Source(file).note("not_recognised", "no row of it was read (docs/formats.md)", topic="rows")


def _read_or_note(file: FileRef, limits: Limits, trust_recorded: bool) -> Iterator[Item]:
    try:
        yield from _read_file(file, limits, trust_recorded)
    except InputError as error:
        yield note_of(error, Source(file))
    except OSError as error:
        yield Source(file).note("unreadable", f"{error.strerror or error}; make the file readable")
    except RecursionError:
        yield Source(file).note("nesting", "nested too deeply to be read; flatten it")


def _turn_to_be_read(file: FileRef) -> int:
    """Exit notes and predictions first: they fill gaps of attempts that are passed on as they are read."""
    name = file.name.lower()
    if name.endswith((".yaml", ".yml")):
        return 0
    return 1 if "pred" in name else 2


def _read_file(file: FileRef, limits: Limits, trust_recorded: bool) -> Iterator[Item]:
    source = Source(file)
    if SEALED_NAMES.fullmatch(file.name):
        detail = "gives the answer away or is a log of hidden tests; not read"
        yield source.note("sealed_beside_attempt", detail)
        return
    if file.name == harness.PATCH and file.sibling("report.json"):
        return
    with file.path.open("rb") as stream:
        head = stream.read(4096)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text and file.path.stat().st_size <= len(head):
        yield source.note("empty", "a file without content; copy it again")
    elif head.startswith(b"PAR1"):
        yield from read_rows(rows_of(file), file, trust_recorded)
    elif head.startswith(_ARCHIVES) or head[257:262] == b"ustar":
        yield source.note("not_recognised", "an archive; unpack it and give the folder", topic="archive")
    elif not text or text[:1] in (b"{", b"[") or head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        yield from read_json(file, limits, trust_recorded)
    else:
        yield from _read_text(file, text, limits)


def _read_text(file: FileRef, head: bytes, limits: Limits) -> Iterator[Item]:
    source = Source(file)
    if head.startswith(aider.CHAT_START.encode()):
        if not aider.has_result(file):
            yield from aider.read_chat_alone(file, read_bytes(file, aider.MAX_CHAT))
            yield source.note(READ_AS, "aider: a chat without its result", topic="aider")
    elif exit_files.KEY.encode() in head:
        yield from exit_files.read_exit_file(file)
        yield source.note(READ_AS, f"exit statuses: by `{exit_files.KEY}`", topic="exit statuses")
    elif outcome_files.is_header(head.split(b"\n", 1)[0].decode("utf-8", "replace")):
        with file.path.open("rb") as stream:
            yield from outcome_files.read_csv(lines_of(stream, file, limits), source, FileName(file).text)
        yield source.note(READ_AS, "outcomes: by the header of a CSV", topic="outcomes")
    else:
        yield source.note("not_recognised", "no form that is read (docs/formats.md); left out")
