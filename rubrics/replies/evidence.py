"""Evidence: pointers into patch, transcript and commands, resolved against what is really there.

`patch:<path>:<line>`: the quote starts on that line of a hunk. `transcript:<turn>`: it stands in one of the turn's
text, reasoning, observation, names of tools, arguments as written or texts among the parsed ones. `run:<number>`: in
the command or its output. Numbers are plain decimals. How quotes are compared: `replies/quotes.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rubrics.records.judgements import Pointer, Ran
from rubrics.records.rollouts import Turn
from rubrics.replies import shape
from rubrics.replies.kinds import unusable
from rubrics.replies.patch_places import PatchPlaces
from rubrics.replies.quotes import MIN_SUBSTANCE, Quote, foldings
from rubrics.visible import one_line

Resolve = Callable[[Pointer], str | None]
"""What is wrong with a pointer, in words; null when its quote stands where it points."""

_PLACE = re.compile(
    r"(?:patch:(?P<path>.+):(?P<line>[1-9][0-9]{0,8})|(?P<what>transcript|run):(?P<number>0|[1-9][0-9]{0,8}))",
    re.DOTALL,
)
FORMS = "patch:<path>:<line>, transcript:<turn>, run:<number>"


class Sources:
    """What one rollout's evidence may point at. Indexes are made when first needed, once; keep one per rollout.

    `runs` may grow while a conversation goes on.
    """

    def __init__(self, patch: str | None, turns: Sequence[Turn] | None, runs: Sequence[Ran] = ()) -> None:
        self._patch = patch
        self._turns = turns or ()
        self._runs = runs
        self._places: PatchPlaces | None = None
        self._texts: dict[str, tuple[str, ...]] = {}
        self._folded: dict[str, tuple[str, ...]] = {}

    def wrong(self, pointer: Pointer) -> str | None:
        """What is wrong with the pointer, in words; null when its quote stands where it points. A `Resolve`."""
        match = _PLACE.fullmatch(pointer.place)
        if match is None:
            return f"no such place; wanted {FORMS}"
        path, line, what, number = match.groups()
        quote = Quote(pointer.quote)
        if not quote.has_substance():
            return f"the quote has fewer than {MIN_SUBSTANCE} characters; quote more of it"
        if path is not None:
            if not self._patch:
                return "there is no patch"
            self._places = self._places or PatchPlaces(self._patch)
            return self._places.wrong(path, int(line), quote)
        number = int(number)
        items: Sequence[Any] = self._turns if what == "transcript" else self._runs
        if number >= len(items):
            return f"there is no {pointer.place}; there are {len(items)}, counted from 0"
        return self._within(pointer.place, quote, items[number])

    def _within(self, place: str, quote: Quote, item: Turn | Ran) -> str | None:
        texts = self._texts.get(place)
        if texts is None:
            texts = tuple(_turn_texts(item)) if isinstance(item, Turn) else (item.command, item.output)
            self._texts[place] = texts
        if quote.is_in_any(texts):
            return None
        forms = self._folded.get(place)
        if forms is None:
            forms = self._folded[place] = tuple(form for text in texts for form in foldings(text))
        return None if quote.is_in_forms(forms) else "the quote does not stand there"


def labelled(by_label: Mapping[str, Resolve], runs: Resolve | None = None) -> Resolve:
    """For several rollouts side by side: `<label>:<place>` is resolved by the label's own, `run:<number>` by `runs`."""

    def wrong(pointer: Pointer) -> str | None:
        label, _, place = pointer.place.partition(":")
        if label == "run" and runs is not None:
            return runs(pointer)
        if label not in by_label:
            return f"no such place; wanted one of {', '.join(by_label)}, then `:` and one of {FORMS}"
        return by_label[label](Pointer(place, pointer.quote))

    return wrong


def read_evidence(value: Any, place: shape.Place, resolve: Resolve) -> tuple[Pointer, ...]:
    """The pointers of a list, every one of them resolved. Raises `UnusableReply`."""
    pointers = []
    for index, item in enumerate(shape.items(value, place)):
        at = (*place, index)
        where, quote = shape.fields(item, ("place", "quote"), at)
        pointer = Pointer(shape.text(where, (*at, "place")), shape.text(quote, (*at, "quote")))
        wrong = resolve(pointer)
        if wrong is not None:
            said = f"{shape.at(at)}: {shape.shown(pointer.place)} with {shape.shown(pointer.quote)}: {wrong}"
            raise unusable("unresolved_evidence", said)
        pointers.append(pointer)
    return tuple(pointers)


def _turn_texts(turn: Turn) -> Iterator[str]:
    yield turn.text
    if turn.reasoning:
        yield turn.reasoning
    if turn.observation:
        yield turn.observation
    for call in turn.tool_calls:
        yield call.name
        if "\n" in call.name:
            yield one_line(call.name)  # as a prompt shows it
        yield call.raw
        yield from _texts(call.arguments)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
