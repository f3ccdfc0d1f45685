"""Every documented measurement of a transcript."""

from __future__ import annotations

from rubrics.vocabulary import Fact

TRANSCRIPT_FACTS: tuple[Fact, ...] = ()
