"""Neutral names of the candidates of a round: they say nothing of policy, run, order or merit."""

from __future__ import annotations

from rubrics.digests import digest128

_FIRST = "bdfgklmnprstvz"
_VOWELS = "aeiou"
_LAST = "kvxz"
"""Few words end so: a label that means something would say something."""


def labels(names: tuple[str, ...], *seed: str | int) -> tuple[str, ...]:
    """One word per candidate, all different, decided by the seed and by who takes part.

    The names (ids of rollouts, which are digests of what was written) go into the draw, so that no attempt can know
    its own label or another's while it is being made. Other seeds, for instance another round, give other words.
    """
    everyone = digest128(sorted(names))
    taken: set[str] = set()
    found = []
    for name in names:
        tries = 0
        while (word := _word(int(digest128(["label", everyone, *seed, name, tries]), 16))) in taken:
            tries += 1
        taken.add(word)
        found.append(word)
    return tuple(found)


def _word(number: int) -> str:
    letters = []
    for alphabet in (_FIRST, _VOWELS, _FIRST, _VOWELS, _LAST):
        number, place = divmod(number, len(alphabet))
        letters.append(alphabet[place])
    return "".join(letters)
