"""Predictions that repeat attempts: which prediction of a run is which of its attempts, and which is an attempt of its
own.

An attempt's own file (a trajectory, a result) says what it did. A run's predictions say it once more, sometimes
changed: edits of tests are taken out. Of one file, each prediction belongs to another attempt:

1. to the attempt of its index, where it names one, else to an attempt of the same patch;
2. those that are left belong to the attempts that are left, if they are no more than these and the policy agrees: it
has the
   same name, or a name that other predictions of the run show to mean the same.

What belongs to none is an attempt of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rubrics.ingest.identity import Known, patch_key
from rubrics.ingest.items import Attempt, Note
from rubrics.ingest.matching import Matcher

_SAME = "a prediction with the task, run and patch of an attempt that has a file of its own"
_OTHER = "a prediction of an attempt has another patch (edits of tests taken out?); the attempt's own patch counts"

_File = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Merged:
    """A prediction that is an attempt known already, and what is to be counted of it."""

    prediction: Attempt
    known: Known
    note: Note


class Merging:
    """Finds the attempts that the predictions of several files repeat; `matcher` knows the attempts."""

    def __init__(self, matcher: Matcher, predictions: Sequence[Attempt]) -> None:
        self._matcher = matcher
        self._taken: set[tuple[str, _File]] = set()
        self._names: set[tuple[str, str, str]] = set()
        self._policies: dict[str, set[str]] = defaultdict(set)
        self._folders: dict[str, set[tuple[str, ...] | None]] = defaultdict(set)
        for prediction in predictions:
            self._folders[prediction.run.name].add(prediction.run.folder)
            if prediction.policy is not None:
                self._policies[prediction.run.name].add(prediction.policy)

    def same(self, prediction: Attempt) -> Merged | None:
        """Step 1: the prediction as the attempt of its index or patch; null when there is none."""
        free = self._free(prediction)
        if not free:
            return None
        if prediction.attempt is not None:
            free = [known for known in free if known.attempt == prediction.attempt and _agrees(known, prediction)]
        else:
            keys = _keys(prediction)
            strict = len(self._policies[prediction.run.name]) > 1
            free = [known for known in free if keys & known.patches and (_agrees(known, prediction) or not strict)]
            free.sort(key=lambda known: not _agrees(known, prediction))
        return self._take(prediction, free[0]) if free else None

    def left(self, predictions: Sequence[Attempt]) -> list[Merged] | None:
        """Step 2: predictions of one file, task, run and policy as the attempts that are left; null when they are
        not."""
        free = [known for known in self._free(predictions[0]) if self._may_be(known, predictions[0])]
        if len(predictions) > len(free):
            return None
        certain = len(free) == 1
        return [
            self._take(prediction, known, certain=certain) for prediction, known in zip(predictions, free, strict=False)
        ]

    def _free(self, prediction: Attempt) -> list[Known]:
        """Attempts of the run that no prediction of this file is yet."""
        run, file = prediction.run, _file(prediction)
        found = self._matcher.attempts(prediction.task_id, run.name, run.folder)
        free = [known for known in found if known.own_file and (known.rollout_id, file) not in self._taken]
        return free if self._is_one_run(prediction, free) else []

    def _is_one_run(self, prediction: Attempt, attempts: Sequence[Known]) -> bool:
        """Whether the run of the prediction is that of the attempts, which has its name.

        Two folders of one name are one run only if the one holds nothing but attempts and the other their predictions.
        """
        folder, written = prediction.run.folder, self._folders[prediction.run.name]
        if folder is None or any(folder in known.folders or not known.folders for known in attempts):
            return True
        folders = set[tuple[str, ...]]().union(*(known.folders for known in attempts))
        return len(folders) == 1 and len(written) == 1 and not folders & written

    def _may_be(self, known: Known, prediction: Attempt) -> bool:
        if prediction.attempt is not None and prediction.attempt != known.attempt:
            return False
        alike = (known.run, str(known.policy), str(prediction.policy)) in self._names
        return alike or _agrees(known, prediction)

    def _take(self, prediction: Attempt, known: Known, *, certain: bool = True) -> Merged:
        """The prediction is the attempt; `certain`: and no other one of the run."""
        self._taken.add((known.rollout_id, _file(prediction)))
        same = bool(_keys(prediction) & known.patches) or not _keys(prediction)
        if certain:
            known.patches |= _keys(prediction)
        if prediction.policy is not None:
            known.spellings |= {prediction.policy}
            self._names.add((known.run, str(known.policy), prediction.policy))
            self._matcher.know_run(known.run, known.folders, prediction.policy)
        kind, detail = ("merged", _SAME) if same else ("patch_differs", _OTHER)
        return Merged(prediction, known, prediction.source.note(kind, detail, subject="rollout"))


def _agrees(known: Known, prediction: Attempt) -> bool:
    return prediction.policy is None or known.may_be_of(prediction.policy)


def _keys(prediction: Attempt) -> set[str]:
    return {patch_key(text) for text in (prediction.patch, prediction.written) if text is not None}


def _file(prediction: Attempt) -> _File:
    return prediction.source.file.dump, prediction.source.file.relative
