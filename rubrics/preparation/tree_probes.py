"""Probes of a repository's index and of its tracked files."""

from __future__ import annotations

from collections.abc import Iterator

from rubrics.preparation.findings import Finding
from rubrics.preparation.place import Place
from rubrics.preparation.rebuild import changed
from rubrics.preparation.repository import open_view
from rubrics.preparation.shell import quote


class Index:
    """Staged content, flags that hide changes, unresolved and once resolved conflicts."""

    name = "index"

    def look(self, place: Place) -> Iterator[Finding]:
        for repository in place.repositories:
            if repository.top is None:
                continue
            open_view(place.shell, repository.git_dir, repository.common)
            env = f"export GIT_DIR=$S/view GIT_WORK_TREE={quote(repository.top)}; cd {quote(repository.top)};"
            staged = place.shell.run(
                f"{env} [ -f $S/view/index ] && {{ g diff-index --cached --no-renames --raw {repository.base} --;"
                " g ls-files -v | grep -v '^H'; g ls-files --resolve-undo; } 2>&1"
            ).output.splitlines()
            if staged:
                detail = f"{len(staged)} entries are not base's"
                yield Finding(self.name, "git_index", repository.folder, detail, "rebuild")


class WorkTree:
    """Tracked files have their content at base."""

    name = "work_tree"

    def look(self, place: Place) -> Iterator[Finding]:
        for repository in [item for item in place.repositories if item.own and item.top]:
            names = [
                name
                for name in changed(place.shell, repository)
                if not place.kept_by_config(f"{repository.top}/{name}")
            ]
            if names and place.config.work_tree == "base":
                detail = f"{len(names)} tracked files differ from base: {', '.join(names[:5])}"
                yield Finding(self.name, "changed_file", repository.top or "", detail, "rebuild")
