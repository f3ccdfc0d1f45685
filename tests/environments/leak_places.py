"""Places in which an answer stays that have no telling name: each form of a text somewhere in the environment, names,
links, attributes, messages of tags, variables, caches of tools; and places that look alike and tell nothing.

Each place says for itself whether it is still there.
"""

from __future__ import annotations

import base64
import gzip
import os
import shutil
import urllib.parse
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from forms import FORMS, PACKED, database, tar, zipped
from leaks import ANSWER, FIELDS, FIXED, HIDDEN, TEST, Box

Left = Callable[[], bool]
"""Whether what was planted is still there."""
TEXT = f"{FIXED}\n{HIDDEN}"
LINE = ANSWER.strip()


@dataclass(frozen=True)
class Place:
    name: str
    kind: str
    """A row of the table of kinds."""
    plant: Callable[[Box], Left]


PLACES: dict[str, Place] = {}


def place(kind: str) -> Callable[[Callable[[Box], Left]], Callable[[Box], Left]]:
    def add(plant: Callable[[Box], Left]) -> Callable[[Box], Left]:
        assert plant.__name__ not in PLACES, plant.__name__
        PLACES[plant.__name__] = Place(plant.__name__, kind, plant)
        return plant

    return add


def file(box: Box, path: str, content: str | bytes) -> Left:
    """Plant a file; it is left while it has that content."""
    planted = box.put(path, content)
    data = planted.read_bytes()
    return lambda: planted.is_file() and planted.read_bytes() == data


# Every form of the text, each somewhere else ------------------------------------------------------------------------

WHERE = (
    "opt/tool/share/{}", "home/dev/.local/share/tool/{}", "var/lib/tool/{}", "srv/data/{}", "testbed/docs/_static/{}",
    "usr/local/share/tool/{}", "root/.config/tool/{}", "mnt/disk/{}", "var/spool/tool/{}", "testbed/quill/data/{}",
    "home/dev/projects/{}.bin", "opt/venv/lib/python3.9/site-packages/other/{}", "workspace/.state/{}", "etc/tool/{}",
    "usr/share/tool/{}",
)  # fmt: skip
"""Of these, forms within forms in installed packages and the system are found by what they are packed in only."""
_DEEP = ("base64_twice", "base64_reversed", "base64_of_utf16", "hex_of_base64", "coloured", "highlighted",
         "gzip_of_base64", "octal_escapes", "unicode_escapes")  # fmt: skip


def _form(name: str, path: str, text: str, suffix: str = "") -> None:
    def plant(box: Box) -> Left:
        return file(box, path, FORMS[name](text))

    plant.__name__ = f"form_{name}{suffix}"
    place("packed" if name in PACKED else "encoded")(plant)


for _number, _name in enumerate(FORMS):
    _spot = WHERE[_number % (11 if _name in _DEEP else len(WHERE))]
    _form(_name, _spot.format(f"theme{_number}"), TEXT)
for _number, _name in enumerate(("base64", "hex", "reversed", "rot13", "utf16", "gzip", "xz", "pickle_of_zlib",
                                 "database_of_zlib", "percent", "base64_in_lines", "zip", "base85")):  # fmt: skip
    _form(_name, f"opt/tool/one/{_number}", f"x = 1\n{ANSWER}\ny = 2\n", "_of_one_line")
    _form(_name, f"usr/local/lib/python3/site-packages/other/_{_number}", HIDDEN, "_of_tests_in_a_package")


# Names --------------------------------------------------------------------------------------------------------------

NAME = LINE.replace("/", "-")


def _named(path: Path, folder: bool = False) -> Left:
    if folder:
        path.mkdir(parents=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return path.exists


@place("names")
def name_of_a_file(box: Box) -> Left:
    """The line has blanks and two slashes: it names a file in a folder."""
    return _named(box.root / "opt/tool" / LINE)


@place("names")
def name_of_a_folder(box: Box) -> Left:
    return _named(
        box.root / "srv" / "self.assertNotEqual(serialize(timedelta(milliseconds=345)), serialize_legacy(345))", True
    )


@place("names")
def name_in_the_work_tree(box: Box) -> Left:
    return _named(box.repo / "docs" / "self.assertEqual(serialize(timedelta(days=1, microseconds=7)), 86400)")


@place("names")
def name_in_base64(box: Box) -> Left:
    return _named(box.root / "var/lib/tool" / base64.urlsafe_b64encode(LINE.encode()).decode())


@place("names")
def name_in_hex(box: Box) -> Left:
    return _named(box.root / "home/dev" / LINE.encode().hex())


@place("names")
def name_in_percent(box: Box) -> Left:
    return _named(box.root / "opt" / urllib.parse.quote(LINE, safe=""))


@place("names")
def name_reversed(box: Box) -> Left:
    return _named(box.root / "opt/tool" / HIDDEN.splitlines()[-2].strip()[::-1])


@place("names")
def name_beside_git(box: Box) -> Left:
    return _named(box.root / "opt/tool/.cache" / HIDDEN.splitlines()[-2].strip())


# Links --------------------------------------------------------------------------------------------------------------


def _link(path: Path, target: str) -> Left:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    return lambda: path.is_symlink() and os.readlink(path) == target


@place("links")
def link_to_a_line(box: Box) -> Left:
    return _link(box.root / "opt/tool/latest", LINE)


@place("links")
def link_to_a_patch(box: Box) -> Left:
    return _link(box.root / "home/dev/current", TEXT[:900])


@place("links")
def link_in_the_work_tree(box: Box) -> Left:
    return _link(box.repo / "docs/theme", LINE)


@place("links")
def link_to_base64(box: Box) -> Left:
    return _link(box.root / "srv/next", base64.b64encode(TEXT.encode()).decode()[:2000])


@place("links")
def link_to_hex(box: Box) -> Left:
    return _link(box.root / "var/lib/tool/next", "/nowhere/" + LINE.encode().hex())


@place("links")
def link_to_packed_base64(box: Box) -> Left:
    return _link(box.root / "opt/link", base64.b64encode(gzip.compress(TEXT.encode())).decode())


# Attributes ---------------------------------------------------------------------------------------------------------


def _attribute(path: Path, name: str, value: bytes) -> Left:
    os.setxattr(path, name, value)
    return lambda: path.exists() and name in os.listxattr(path)


@place("attributes")
def attribute_of_a_file_of_base(box: Box) -> Left:
    return _attribute(box.repo / "quill/fields.py", "user.note", TEXT.encode())


@place("attributes")
def attribute_of_a_folder(box: Box) -> Left:
    return _attribute(box.repo, "user.note", base64.b64encode(TEXT.encode()))


@place("attributes")
def attribute_elsewhere(box: Box) -> Left:
    return _attribute(box.put("opt/tool/run", "#!/bin/sh\n"), "user.xdg.comment", zlib.compress(TEXT.encode()))


@place("attributes")
def attribute_in_hex(box: Box) -> Left:
    return _attribute(box.put("opt/tool/run2", "#!/bin/sh\n"), "user.x", LINE.encode().hex().encode())


@place("attributes")
def attribute_by_its_name(box: Box) -> Left:
    return _attribute(box.put("opt/tool/run3", "#!/bin/sh\n"), f"user.{LINE}", b"1")


@place("attributes")
def attribute_in_the_system(box: Box) -> Left:
    return _attribute(box.put("usr/lib/tool/run", "#!/bin/sh\n"), "user.doc", TEXT[::-1].encode())


# What git says, in tags on base -------------------------------------------------------------------------------------


def _tag(box: Box, name: str, *arguments: str, at: str = "") -> Left:
    box.git("tag", *arguments, name, at or box.base)
    return lambda: name in box.git("tag").split()


@place("git messages")
def tag_with_a_message(box: Box) -> Left:
    return _tag(box, "v1.0.1", "-a", "-m", TEXT)


@place("git messages")
def tag_with_a_message_on_an_ancestor(box: Box) -> Left:
    return _tag(box, "v0.9.1", "-a", "-m", f"notes\n\n{ANSWER}", at=f"{box.base}~1")


@place("git messages")
def tag_with_base64(box: Box) -> Left:
    return _tag(box, "v1.0.2", "-a", "-m", base64.encodebytes(TEXT.encode()).decode())


@place("git messages")
def tag_of_a_tag(box: Box) -> Left:
    box.git("tag", "-a", "-m", TEXT, "inner", box.base)
    left = _tag(box, "outer", "-a", "-m", "release", at="inner")
    box.git("tag", "-d", "inner")
    return left


@place("git messages")
def tag_by_its_name(box: Box) -> Left:
    return _tag(box, base64.urlsafe_b64encode(LINE.encode()).decode().rstrip("="))


@place("git messages")
def tag_by_its_author(box: Box) -> Left:
    box.git("tag", "-a", "-m", "release", "v1.0.3", box.base, GIT_COMMITTER_NAME=LINE)
    return lambda: "v1.0.3" in box.git("tag").split()


# Repositories elsewhere, under other names --------------------------------------------------------------------------


def _bundle(box: Box) -> bytes:
    box.git("bundle", "create", "-q", str(box.upstream / "b"), "main", at=box.upstream)
    return (box.upstream / "b").read_bytes()


@place("git elsewhere")
def bundle_in_a_home(box: Box) -> Left:
    return file(box, "home/dev/.cache/blob", _bundle(box))


@place("git elsewhere")
def bundle_in_the_system(box: Box) -> Left:
    return file(box, "usr/share/tool/base.dat", _bundle(box))


@place("git elsewhere")
def bundle_packed(box: Box) -> Left:
    return file(box, "opt/tool/base.bin", gzip.compress(_bundle(box)))


@place("git elsewhere")
def bundle_in_base64(box: Box) -> Left:
    return file(box, "opt/tool/base.txt", base64.encodebytes(_bundle(box)))


@place("git elsewhere")
def bundle_in_an_archive(box: Box) -> Left:
    return file(box, "var/backups/monday", tar(_bundle(box), "x", "w:gz"))


def _pack(box: Box) -> bytes:
    box.git("repack", "-adq", at=box.upstream)
    (found,) = (box.upstream / ".git/objects/pack").glob("*.pack")
    return found.read_bytes()


@place("git elsewhere")
def pack_under_another_name(box: Box) -> Left:
    return file(box, "var/lib/tool/objects.db", _pack(box))


@place("git elsewhere")
def loose_object_under_another_name(box: Box) -> Left:
    data = FIXED.encode()
    return file(box, "srv/o/1", zlib.compress(b"blob %d\0" % len(data) + data))


@place("git elsewhere")
def git_folder_in_an_archive(box: Box) -> Left:
    return file(box, "var/backups/tuesday", tar(b"ref: refs/heads/main\n", "w/.git/HEAD"))


@place("git elsewhere")
def mail_patches_in_the_system(box: Box) -> Left:
    return file(box, "usr/share/tool/series", box.git("format-patch", "--stdout", box.base, at=box.upstream))


@place("git elsewhere")
def description_of_the_repository(box: Box) -> Left:
    return file(box, "testbed/.git/description", TEXT)


@place("git elsewhere")
def exclusions_of_the_repository(box: Box) -> Left:
    return file(box, "testbed/.git/info/exclude", base64.b64encode(TEXT.encode()))


# Settings, schedules, mail, caches and histories of tools -----------------------------------------------------------


def _settings(name: str, path: str, line: str) -> None:
    def plant(box: Box) -> Left:
        planted = box.put(path, f"export KEPT=1\n{line}\numask 022\n")
        return lambda: planted.is_file() and line in planted.read_text()

    plant.__name__ = name
    place("settings")(plant)


_ONE = base64.b64encode(TEXT.encode()).decode()
_settings("variable_in_etc_environment", "etc/environment", f"PATCH={_ONE}")
_settings("variable_in_a_profile", "root/.bashrc", f"export PATCH='{LINE}'")
_settings("variable_in_another_profile", "home/dev/.zshenv", f"export PATCH={TEXT.encode().hex()}")
_settings("variable_in_profile_d", "etc/profile.d/tool.sh", f"PATCH={_ONE}; export PATCH")
_settings("schedule", "etc/cron.d/tool", f"0 4 * * * root echo '{LINE}'")
_settings("schedule_of_a_user", "var/spool/cron/crontabs/dev", f"0 4 * * * echo {_ONE}")
_settings("comment_of_an_editor", "root/.vimrc", f'" {LINE}')

_TOOLS: dict[str, tuple[str, str | bytes]] = {
    "mail": ("var/mail/dev", f"From a\nSubject: x\n\n{TEXT}"),
    "system_log": ("var/log/syslog.1", f"Dec 1 box tool: {LINE}\n"),
    "rotated_log": ("var/log/tool.log.2.gz", gzip.compress(TEXT.encode())),
    "journal_of_the_system": ("var/log/journal/ab/system.journal", b"LPKSHHRH\0\0\0\0" + zlib.compress(TEXT.encode())),
    "idea_workspace": ("home/dev/proj/.idea/workspace.xml", FORMS["html"](TEXT)),
    "code_history": ("home/dev/.config/Code/User/History/ab/x.py", TEXT),
    "code_backup": ("home/dev/.config/Code/Backups/1/file/ab", TEXT),
    "notebook_checkpoint": ("opt/work/.ipynb_checkpoints/a-checkpoint.ipynb", FORMS["notebook"](TEXT)),
    "swap_of_an_editor": ("opt/work/.fields.py.swp", b"b0VIM 8.2\0\0" + TEXT.replace("\n", "\0").encode()),
    "undo_of_an_editor": ("opt/work/.fields.py.un~", b"Vim\x9fUnDo\xe5\0" + TEXT.encode()),
    "autosave": ("opt/work/#fields.py#", TEXT),
    "coverage_data": ("opt/work/.coverage", database(zlib.compress(TEXT.encode()))),
    "coverage_page": ("opt/work/htmlcov/z_fields_py.html", FORMS["highlighted"](TEXT)),
    "test_data_base": ("opt/work/.testmondata", database(zlib.compress(TEXT.encode()), "x")),
    "report_of_tests": ("opt/work/junit.xml", FORMS["html"](TEXT)),
    "mypy_data": ("opt/work/.mypy_cache/3.11/x.data.json", FORMS["json_in_json"](TEXT)),
    "pip_wheel": ("opt/pipcache/wheels/a/b/other-1.whl", zipped(TEXT.encode(), "other/x.py")),
    "pip_answer": ("opt/pipcache/http-v2/a/b", zlib.compress(b"pip\0" + TEXT.encode())),
    "conda_package": ("opt/conda/pkgs/x.tar.bz2", tar(TEXT.encode(), "info/x", "w:bz2")),
    "layer_of_docker": ("var/lib/docker/tmp/layer", tar(TEXT.encode(), "a/b", "w:gz")),
    "quilt_patch": ("opt/pkg/.pc/fix/quill/fields.py", TEXT),
    "dump_of_memory": ("opt/tool/dump", b"\x7fELF\2\1\1\0" + os.urandom(500) + TEXT.encode()),
    "compiled_constants": ("opt/old/thing.cpython-39.pyc", b"\x61\r\r\n" + b"\0" * 12 + b"s" + TEXT.encode()),
    "snapshot_of_a_tool": ("home/dev/.cache/tool/snap", zipped(base64.b64encode(TEXT.encode()), "s")),
    "trash": ("home/dev/.local/share/Trash/files/a", TEXT),
    "maven_answer": ("root/.m2/repository/q/q.jar", zipped(TEXT.encode(), "META-INF/x")),
    "clipboard": ("home/dev/.local/share/clipman/history.db", database(TEXT)),
    "browser_store": ("home/dev/.config/browser/Local Storage/000003.log", b"\1\2" + TEXT.encode("utf-16-le")),
    "service_file": ("etc/tool.conf", f"[x]\nnote = {_ONE}\n"),
    "message_of_the_day": ("usr/share/tool/motd", TEXT),
}  # fmt: skip


def _tool(name: str, path: str, content: str | bytes) -> None:
    def plant(box: Box) -> Left:
        return file(box, path, content)

    plant.__name__ = name
    place("traces of tools")(plant)


for _name, (_path, _content) in _TOOLS.items():
    _tool(_name, _path, _content)


@place("traces of tools")
def compiled_copy_without_source(box: Box) -> Left:
    return file(box, "opt/old/quill/__pycache__/fields.cpython-39.pyc", b"\x61\r\r\n" + b"\0" * 12 + b"\xe3\0\0\0")


# Look-alikes --------------------------------------------------------------------------------------------------------

PROSE = "Every unit is rounded towards zero, and what is left over is given back as a remainder. " * 6 + "\n"
CODE = (
    '''def seconds_between(first, second):
    """Whole seconds from one moment to another."""
    difference = second - first
    return difference.days * 86400 + difference.seconds
'''
    * 3
)
SHORT_OF_THE_ANSWER = "def test_rounds"
ALIKE = {"base": FIELDS + TEST, "prose": PROSE, "code": CODE, "part": SHORT_OF_THE_ANSWER * 20}
"""Texts that are no answer: what base says, what nobody asked for, a beginning of a line."""


def innocents(box: Box) -> dict[str, Left]:
    """Plant everything that looks like a leak and is none; by name, whether it is as it was."""
    planted: dict[str, Left] = {}
    for text, content in ALIKE.items():
        for number, (form, encode) in enumerate(FORMS.items()):
            name = f"{text}_{form}"
            planted[name] = file(box, WHERE[number % len(WHERE)].format(f"innocent_{name}"), encode(content))
    for number in range(20):
        planted[f"name_{number}"] = _named(box.root / "opt/names" / f"{number}{os.urandom(28).hex()}")
        planted[f"base64_name_{number}"] = _named(
            box.root / "srv/n" / base64.urlsafe_b64encode(os.urandom(40)).decode()
        )
        planted[f"link_{number}"] = _link(
            box.root / f"opt/links/{number}", "/usr/share/" + "difference of days/" * number
        )
        held = box.put(f"opt/attributes/{number}", str(number))
        planted[f"attribute_{number}"] = _attribute(held, f"user.n{number}", FORMS["base64"](CODE)[: 20 * number + 1])
    other = box.root / "opt/libraries/pendulum"
    for number in range(12):
        code = f"def other_{number}(x):\n    return x.total_seconds() // {number}\n" * 3
        planted[f"other_source_{number}"] = file(box, f"opt/libraries/pendulum/quill{number}/fields.py", code)
    shutil.copy(box.put("opt/libraries/pendulum/README", PROSE), other / "README.bak2")
    planted["same_tail"] = file(
        box, "opt/libraries/web/quill/fields.py", "from web import forms\n\nFIELDS = forms.all()\n" * 4
    )
    planted["certificate"] = file(
        box, "etc/ssl/certs/x.pem", b"-----BEGIN CERTIFICATE-----\n" + FORMS["base64_in_lines"](PROSE)
    )
    planted["script"] = file(
        box, "srv/www/app.min.js", "var a=" + "+".join(f"f{i}(x{i}['key{i}'])" for i in range(4000))
    )
    planted["profile"] = file(box, "root/.bash_aliases", "alias ll='ls -l'\nexport X=1\n")
    for number in range(8):
        box.git("tag", "-a", "-m", f"release {number}\n\n{PROSE}", f"v0.{number}.0", box.base)
    return planted
