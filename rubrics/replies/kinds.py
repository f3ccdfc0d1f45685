"""Why a reply is unusable: the one closed table of kinds, and the one way to raise them."""

from __future__ import annotations

from rubrics.errors import UnusableReply

KINDS: dict[str, str] = {
    "empty": "Nothing but blanks came.",
    "refused": "The endpoint or the model declined to answer. Raised by the client.",
    "truncated": "The reply breaks off: what came is the beginning of a JSON object, or the token limit ended it.",
    "too_long": "More characters than any reply needs.",
    "not_json": "Not exactly one JSON object: prose, two values, trailing text, NaN, broken escapes, half a surrogate.",
    "repeated_key": "An object names the same field twice.",
    "shape": "JSON of another shape: a field missing, unknown, empty or of another type.",
    "echoed_example": "A placeholder of the prompt's example came back.",
    "no_reason": "A reason that says nothing: blank, a level, a name.",
    "no_evidence": "Something is claimed that needs evidence, and none is given.",
    "unresolved_evidence": "A pointer leads nowhere, or its quote does not stand where it points.",
    "missing_criterion": "A criterion was asked about and has no verdict.",
    "unknown_criterion": "A verdict on something that was not asked.",
    "repeated_criterion": "Two verdicts on one criterion, or two criteria of one name.",
    "off_scale": "A level that is not of the criterion's scale.",
    "missing_candidate": "A candidate of the round is not ranked.",
    "unknown_candidate": "A candidate or attempt that does not exist.",
    "repeated_candidate": "A candidate or attempt that is named twice.",
    "missing_finding": "A finding was asked about and has no verdict.",
    "unknown_finding": "A verdict on a finding that was not asked about.",
    "repeated_finding": "Two verdicts on one finding.",
    "off_range": "A number outside its range.",
    "contradiction": "No clear difference, and marks that differ. Raised by the ranking.",
    "bad_call": "A call of a tool that cannot be carried out. Raised by the loop of agents.",
    "no_call": "An agent's turn without a call. Raised by the loop of agents.",
    "repeated_submission": "Two submissions in one turn. Raised by the loop of agents.",
}
"""Every kind of `UnusableReply`, and what it means."""


def unusable(kind: str, message: str) -> UnusableReply:
    """The error of this kind. Raises `KeyError` for a kind that is not in the table."""
    if kind not in KINDS:
        raise KeyError(kind)
    return UnusableReply(kind, message)
