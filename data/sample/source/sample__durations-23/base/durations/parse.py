"""Read durations."""

import re

from durations.units import UNITS

PART = re.compile(r"(\d+)([dhms])")


def parse(text):
    """Return the seconds of a duration such as `1h30m`."""
    return sum(int(number) * UNITS[unit] for number, unit in PART.findall(text))
