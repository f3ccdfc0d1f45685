"""The deterministic probes, in the order in which they look."""

from __future__ import annotations

from rubrics.preparation.content_probes import AnswerCopies, AnswerText, Archives
from rubrics.preparation.file_probes import BuildCopies, HarnessFolders, HomeLeftovers, TreeLeftovers
from rubrics.preparation.findings import Probe
from rubrics.preparation.git_probes import GitFiles, History, Objects, References
from rubrics.preparation.other_git import Bundles, OtherGit
from rubrics.preparation.package_probes import InstalledCopies, Links, OwnArchives
from rubrics.preparation.tree_probes import Index, WorkTree

PROBES: tuple[Probe, ...] = (
    OtherGit(), References(), GitFiles(), Objects(), History(), Index(), WorkTree(), Bundles(), TreeLeftovers(),
    BuildCopies(), HomeLeftovers(), HarnessFolders(), InstalledCopies(), Links(), OwnArchives(), Archives(),
    AnswerCopies(), AnswerText(),
)  # fmt: skip
