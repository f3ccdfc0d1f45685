"""The probe that a model drives: it enters the prepared environment and tries to reach the answer.

What it reports is a claim; `model_checks` decides in code what of it becomes a finding. A claim that proves nothing is
a note for a person. A model that gave no report has not looked: that is said, and never counts as nothing found.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from rubrics.agents.loop import Bounds, converse
from rubrics.agents.tools import Looks, environment_tools
from rubrics.environments.session import Session
from rubrics.errors import InfraError, ModelError
from rubrics.preparation.findings import Finding, LateProbe
from rubrics.preparation.model_checks import printed_by, standing_there
from rubrics.preparation.place import Place
from rubrics.prompting.fences import fence
from rubrics.prompting.tasks import facts_view, spec_view
from rubrics.prompting.templates import render
from rubrics.records.judgements import Ran
from rubrics.records.models import Request, Tool
from rubrics.replies.probes import ROUTES, ProbeReport, Route, probe_schema, read_probe
from rubrics.visible import one_line, shortened

if TYPE_CHECKING:
    from rubrics.models.client import Client

BOUNDS = Bounds(turns=40, seconds=1800.0)
SUBMIT = Tool("submit_findings", "Hand in what you found, once, when you have looked at everything.", probe_schema())
_NOTED = 200


def model_probe(client: Client, bounds: Bounds = BOUNDS) -> LateProbe:
    """The probe of one model; `bounds` hold for one look."""
    return ModelProbe(client, bounds)


class ModelProbe:
    """See `model_probe`. Works in a copy of the environment where the place has one."""

    late: Literal[True] = True

    def __init__(self, client: Client, bounds: Bounds) -> None:
        self.name = f"model:{client.name}"
        self._client = client
        self._bounds = bounds

    def look(self, place: Place) -> list[Finding]:
        open_still = [finding for check in place.proved for finding in check()]
        if open_still:
            return open_still
        place.forget()
        place.shell.run("find \"$S\" -mindepth 1 -maxdepth 1 ! -name .gitconfig -exec rm -rf -- '{}' +")
        since = int(place.shell.text("date +%s")) if place.copy is None else 0
        looks = Looks()
        try:
            with _copy(place) as session:
                report = self._client.run(self._report(place, session, looks))
        except ModelError as error:
            return self._unfinished(place, error.kind, str(error))
        except InfraError as error:
            if place.copy is None:
                raise
            return self._unfinished(place, error.kind, str(error))
        place.forget()
        found = [finding for claim in report.routes for finding in self._proved(place, claim, looks.ran, since)]
        place.reports[self.name] = "found" if found else "found_nothing"
        return found

    def _proved(self, place: Place, claim: Route, ran: Sequence[Ran], since: int) -> list[Finding]:
        standing = standing_there(place, self.name, claim, since)
        if standing:
            place.proved.append(lambda: standing_there(place, self.name, claim, 0))
            return standing
        printed = printed_by(place, self.name, claim, ran)
        if printed:
            place.proved.append(lambda: printed)
        else:
            place.notes.append(f"{self.name}: not proved: {claim.kind} {_safe(place, claim.place)}")
        return printed

    async def _report(self, place: Place, session: Session, looks: Looks) -> ProbeReport:
        tools = environment_tools(session, looks, time.monotonic() + self._bounds.seconds)

        def read(text: str) -> ProbeReport:
            return read_probe(text, looks.ran)

        talk = await converse(self._client, opening(place), tools, SUBMIT, read, self._bounds)
        assert talk.value is not None  # `converse` returns with a value only
        return talk.value

    def _unfinished(self, place: Place, kind: str, why: str) -> list[Finding]:
        place.reports[self.name] = f"unfinished_{kind}"
        place.notes.append(f"{self.name}: did not finish ({kind}): {_safe(place, why)}")
        return []


def opening(place: Place) -> Request:
    """The first messages: nothing sealed is in them."""
    listed = [(name, meaning) for name, meaning in ROUTES.items()]
    scratch = one_line(place.shell.scratch)
    system = render(
        "probe", scratch=scratch.rpartition("/")[0] + "/rubrics-prepare.*", submit=SUBMIT.name, kinds=listed
    )
    task = render(
        "probe_task",
        facts=fence("task", facts_view(place.task)),
        spec=fence("spec", spec_view(place.task)),
        workdir=one_line(place.workdir),
    )
    messages = ({"role": "system", "content": system}, {"role": "user", "content": task})
    return Request(messages, purpose="probe")


@contextmanager
def _copy(place: Place) -> Iterator[Session]:
    if place.copy is None:
        yield place.shell.session
    else:
        with place.copy(place.unset) as session:
            yield session


def _safe(place: Place, text: str) -> str:
    """The text for a note, unless it holds lines of the answer."""
    return "(left out: it quotes the answer)" if place.answers.seen_in(text) else one_line(shortened(text, _NOTED))
