"""Every documented measurement of a patch."""

from __future__ import annotations

from rubrics.facts.handling_facts import HANDLING
from rubrics.facts.leftover_facts import LEFTOVERS
from rubrics.facts.name_facts import NAMES
from rubrics.facts.shape_facts import SHAPE
from rubrics.facts.size_facts import SIZE
from rubrics.vocabulary import Fact

PATCH_FACTS: tuple[Fact, ...] = SIZE + SHAPE + HANDLING + LEFTOVERS + NAMES
"""All are null when the patch is not known; for the empty patch counts are 0 and lists empty."""
