"""The whole vocabulary of facts: names, types, units, meanings."""

from __future__ import annotations

from rubrics.facts.patch_vocabulary import PATCH_FACTS
from rubrics.facts.transcript_vocabulary import TRANSCRIPT_FACTS
from rubrics.vocabulary import Fact

FACTS: tuple[Fact, ...] = PATCH_FACTS + TRANSCRIPT_FACTS

PATCH_NAMES: frozenset[str] = frozenset(fact.name for fact in PATCH_FACTS)
TRANSCRIPT_NAMES: frozenset[str] = frozenset(fact.name for fact in TRANSCRIPT_FACTS)
