"""The tools that authors, judges, rankers and probes are offered.

`environment_tools(session, looks)` look into an open environment; `attempt_tools({label: ShownAttempt(...)})` open
parts of stored attempts. Every answer is bounded, and says what it left out and how to see it; what it shows is fenced.
"""

from rubrics.agents.attempt_tools import ShownAttempt, attempt_tools
from rubrics.agents.environment_tools import Looks, environment_tools

__all__ = ["Looks", "ShownAttempt", "attempt_tools", "environment_tools"]
