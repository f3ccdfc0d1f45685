"""Packs explanations for the page: every text once, rows as lists of numbers, patches compressed. Pure.

`page.js` unpacks what stands here; the two are read side by side.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from typing import Any

from rubrics import jsonio
from rubrics.report.evidence import DIGITS
from rubrics.report.numbers import number
from rubrics.report.trust import environment_line
from rubrics.visible import visible

NOTHING = -1
"""Stands for an absent text."""


class Packer:
    """Collects groups and rubrics; `content()` is what the page holds as JSON."""

    def __init__(self, patch_limit: int) -> None:
        self._patch_limit = patch_limit
        self._texts: dict[str, int] = {}
        self._rubrics: dict[str, int] = {}
        self._rubric_rows: list[list[Any]] = []
        self._patches: dict[str, int] = {}
        self._shapes: dict[tuple[str, ...], int] = {}
        self._groups: dict[str, list[list[Any]]] = {}

    def text(self, text: Any) -> int:
        """Place of a text among all texts, made visible; `NOTHING` for null."""
        if text is None:
            return NOTHING
        return self._texts.setdefault(visible(str(text)), len(self._texts))

    def rubric(self, rubric: Mapping[str, Any], fared: Mapping[str, str]) -> None:
        """Add a rubric; `fared` says of each criterion id how it fared."""
        digest = rubric["rubric_digest"]
        self._rubrics[digest] = len(self._rubric_rows)
        texts = ("id", "text", "method", "rule", "guidance", "anchor", "fault")
        self._rubric_rows.append(
            [
                *(self.text(rubric[name]) for name in ("rubric_digest", "task_id", "kind", "author", "note")),
                len(rubric["studied"] or ()),
                number(sum(item["weight"] for item in rubric["criteria"])),
                [
                    [
                        *(self.text(item[name]) for name in texts),
                        number(item["weight"]),
                        int(bool(item["gate"])),
                        self.text(fared.get(item["id"])),
                    ]
                    for item in rubric["criteria"]
                ],
            ]
        )

    def rollout(self, explained: Mapping[str, Any], patch: str | None) -> None:
        """Add one rollout to its group."""
        reward = explained["reward"] or {}
        names = ("test", "solution", "behavior", "reward", "advantage")
        outcome = explained["outcome"]
        cut = None if patch is None else patch[: self._patch_limit]
        row = [
            *(self.text(explained[name]) for name in ("rollout_id", "run", "policy", "policy_step", "attempt")),
            self.text(reward.get("status", "no reward row")),
            self.text(reward.get("failure_class")),
            int(bool(explained["studied"])),
            self.text(explained["duplicate_of"]),
            [_rounded(reward.get(name)) for name in names],
            [self.text(outcome[name]) for name in ("outcome", "counts", "why", "doubt")],
            [self.text(item[name]) for item in outcome["sources"] for name in ("source", "outcome", "detail")],
            [self._score(score) for score in explained["scores"]],
            [self.text(line) for line in explained["arithmetic"][len(explained["scores"]) :]],
            NOTHING if cut is None else self._patches.setdefault(visible(cut), len(self._patches)),
            0 if patch is None or cut is None else len(patch) - len(cut),
            self.text(explained["audit"]["hack"]),
            [self._finding(finding) for finding in explained["audit"]["findings"]],
            self.text(environment_line(explained["environment"])),
            self.text(explained["source_id"]),
        ]
        self._groups.setdefault(explained["group_id"], []).append(row)

    def _finding(self, finding: Mapping[str, Any]) -> list[int]:
        """Five texts, then the pointers."""
        names = ("verdict", "kind", "source", "rejected_by", "reason")
        failure = finding["failure_class"]
        texts = {**finding, "reason": f"no verdict: {failure}" if failure else finding["reason"]}
        return [*(self.text(texts[name]) for name in names), *(self.text(item) for item in finding["evidence"])]

    def _score(self, score: Mapping[str, Any]) -> list[Any]:
        """Rubric, its line (absent where the page writes the sum itself), score, then values, evidence and failures of
        its criteria."""
        failures = [self.text(item["failure_class"]) for item in score["criteria"]]
        return [
            self._rubrics.get(score["rubric"], NOTHING),
            self.text(None if score["plain"] else score["line"]),
            _rounded(score["score"]),
            [_rounded(item["value"]) for item in score["criteria"]],
            [self._evidence(item) for item in score["criteria"]],
            failures if any(place != NOTHING for place in failures) else 0,
        ]

    def _evidence(self, criterion: Mapping[str, Any]) -> list[Any]:
        """Shape, then one value per pointer of it. A shape is a reason with its pointers: most rollouts share one."""
        reason = "" if criterion["method"] == "rule" else visible(str(criterion["reason"]))
        names = [visible(item["name"] or item["pointer"]) for item in criterion["evidence"]]
        shape = self._shapes.setdefault((reason, *names), len(self._shapes))
        return [shape, *(_measured(item) for item in criterion["evidence"])]

    def groups(self) -> list[str]:
        """Ids of the groups, in the order in which they came."""
        return list(self._groups)

    def content(self) -> dict[str, Any]:
        """All but the patches."""
        return {
            "texts": list(self._texts),
            "shapes": list(self._shapes),
            "rubrics": self._rubric_rows,
            "groups": list(self._groups.values()),
        }

    def patches(self) -> str:
        """The patches as a JSON list, in gzip, in base64: most of a page would be patches."""
        return base64.b64encode(gzip.compress(jsonio.dumps(list(self._patches)).encode(), 6, mtime=0)).decode()


def _measured(item: Mapping[str, Any]) -> Any:
    """A number, yes or no as itself, null where unknown, 0-length text for a pointer without a value."""
    value = item["value"]
    if item["name"] is None:
        return ""
    if value is None or isinstance(value, bool):
        return value
    return _rounded(round(value, DIGITS)) if isinstance(value, int | float) else visible(item["shown"])


def _rounded(value: float | None) -> float | int | None:
    """The number as it is shown everywhere; a whole one without a decimal point."""
    if value is None:
        return None
    shown = float(number(value))
    return int(shown) if shown.is_integer() else shown
