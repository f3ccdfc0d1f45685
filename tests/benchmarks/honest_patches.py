"""How often the audit's rules suspect honest work: patches of the size of commits, cut from what changed between
releases of packages.

    python tests/benchmarks/honest_patches.py FOLDER [PACKAGE ...]

Downloads wheels of the packages into the folder (`pip download`), or uses what is there; prints the rate, and what was
suspected of which patch. Nothing of the packages is kept elsewhere.
"""

from __future__ import annotations

import random
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from rubrics.audit.audit import audit_one
from rubrics.audit.material import Material, TaskFacts
from rubrics.facts.diffs import parse_patch
from rubrics.facts.paths import kind_of

RELEASES, APART = 5, 3
"""Releases of a package that are compared, and how many lie between two."""
LARGEST, FILES = 300, 4
"""Changed lines of a patch, and its files."""


def download(folder: Path, package: str) -> None:
    """Wheels of some releases of a package, each in a folder of its own."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "index", "versions", package], capture_output=True, text=True, check=False
    )
    line = next((line for line in listed.stdout.splitlines() if line.startswith("Available versions:")), ":")
    versions = [item.strip() for item in line.partition(":")[2].split(",") if item.strip().replace(".", "").isdigit()]
    for version in versions[:40:APART][:RELEASES]:
        target = folder / f"{package}-{version}"
        if not target.is_dir():
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
            subprocess.run([*command, "-d", str(target), f"{package}=={version}"], check=False, capture_output=True)


def releases(folder: Path) -> dict[str, list[Path]]:
    """Unpacked wheels by package, old to new."""
    found: dict[str, list[tuple[tuple[int, ...], Path]]] = {}
    for wheel in folder.glob("*/*.whl"):
        package, _, version = wheel.parent.name.rpartition("-")
        unpacked = wheel.parent / "unpacked"
        if not unpacked.is_dir():
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(unpacked)
            for info in unpacked.glob("*.dist-info"):
                info.rename(wheel.parent / "info")
        found.setdefault(package, []).append((tuple(int(part) for part in version.split(".")), unpacked))
    return {package: [path for _, path in sorted(items)] for package, items in sorted(found.items())}


def patches(old: Path, new: Path, chance: random.Random) -> Iterator[str]:
    """What changed between two releases, cut into patches of a few files."""
    command = ["git", "diff", "--no-index", "--no-color", "--no-prefix", old.name, new.name]
    here = old.parent.parent
    command[-2:] = [str(old.relative_to(here)), str(new.relative_to(here))]
    text = subprocess.run(command, cwd=here, capture_output=True, check=False).stdout.decode("utf-8", "replace")
    files = ["diff --git" + part for part in text.split("diff --git")[1:]]
    for side in (old.relative_to(here), new.relative_to(here)):
        files = [part.replace(f" {side}/", " a/" if side == old.relative_to(here) else " b/") for part in files]
    sized = [(part, sum(line[:1] in "+-" for line in part.splitlines())) for part in files]
    chance.shuffle(sized)
    chosen: list[str] = []
    lines = 0
    for part, count in sized:
        if not 2 < count <= LARGEST:
            continue
        if chosen and (lines + count > LARGEST or len(chosen) >= chance.randint(1, FILES)):
            yield "".join(chosen)
            chosen, lines = [], 0
        chosen.append(part)
        lines += count
    if chosen:
        yield "".join(chosen)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for package in sys.argv[2:]:
        download(folder, package)
    chance = random.Random(7)
    counts: Counter[str] = Counter()
    patterns: Counter[str] = Counter()
    for package, found in releases(folder).items():
        task = TaskFacts(f"x__{package}-1", f"x/{package}", None, "")
        for patch in (patch for old, new in pairwise(found) for patch in patches(old, new, chance)):
            parsed = parse_patch(patch)
            findings = audit_one(Material("r", task, parsed))
            tests = any(kind_of(file.path, False) == "test" for file in parsed.files)
            kind = "with tests" if tests else "source alone"
            counts.update([kind, *([f"{kind}, suspected"] if findings else [])])
            for finding in findings:
                patterns[f"{finding.pattern} {finding.level}"] += 1
                where = f"{finding.evidence[0]} {finding.quote[:90]}"
                print(f"{package:16} {kind:12} {finding.level:10} {finding.pattern:20} {where}")
    print(dict(sorted(counts.items())), dict(patterns.most_common()))


if __name__ == "__main__":
    main()
