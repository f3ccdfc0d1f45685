"""Write durations."""

from durations.units import UNITS


def format_seconds(seconds):
    """Return whole seconds as a duration such as `1h30m`."""
    parts = []
    for unit, length in UNITS.items():
        count, seconds = divmod(seconds, length)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
