"""Every documented measurement of a transcript. Demonstrations shown to the agent are left out everywhere.

A *command* is one call of a tool; an *action* is one thing a command does (`cd x && pytest && git diff` holds two).
A *source edit* is an action that creates or edits a source file, or edits a file that cannot be told; scratch files,
tests and documents are no source. Positions count assistant turns.
"""

from __future__ import annotations

from rubrics.facts.transcript_checks import CHECKS
from rubrics.facts.transcript_edits import EDITS
from rubrics.facts.transcript_faults import FAULTS
from rubrics.facts.transcript_size import TALK
from rubrics.vocabulary import Fact

TRANSCRIPT_FACTS: tuple[Fact, ...] = TALK + EDITS + CHECKS + FAULTS
"""All are null without a transcript; one whose evidence was not recorded (exit codes, say) is null, never 0."""
