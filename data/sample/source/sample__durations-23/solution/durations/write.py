"""Write durations."""

from durations.units import UNITS


def format_seconds(seconds):
    """Return whole seconds as a duration such as `1h30m`."""
    sign = "-" if seconds < 0 else ""
    seconds = abs(seconds)
    parts = []
    for unit, length in UNITS.items():
        count, seconds = divmod(seconds, length)
        if count:
            parts.append(f"{count}{unit}")
    return sign + ("".join(parts) or "0s")
