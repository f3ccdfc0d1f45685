"""Read durations."""

import re

from durations.units import UNITS

DURATION = re.compile("(-?)" + "".join(rf"(?:\s*([0-9]+){unit})?" for unit in UNITS))


def parse(text):
    """Return the seconds of a duration such as `1h30m`; raise `ValueError` for any other text."""
    match = DURATION.fullmatch(text.strip())
    if match is None or not any(match.groups()[1:]):
        raise ValueError(f"not a duration: {text!r}")
    sign, *numbers = match.groups()
    seconds = sum(int(number or 0) * length for number, length in zip(numbers, UNITS.values()))
    return -seconds if sign else seconds
