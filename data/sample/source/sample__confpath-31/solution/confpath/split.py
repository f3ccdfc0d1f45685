"""Split a path into its parts."""


def split_path(path):
    """Return the parts of a dotted path; a backslash keeps a dot or a backslash in its part."""
    parts = [""]
    characters = iter(path)
    for character in characters:
        if character == ".":
            parts.append("")
        elif character != "\\":
            parts[-1] += character
        else:
            escaped = next(characters, "")
            if escaped not in (".", "\\"):
                raise ValueError(f"lone backslash in path {path!r}")
            parts[-1] += escaped
    if "" in parts:
        raise ValueError(f"empty part in path {path!r}")
    return parts
