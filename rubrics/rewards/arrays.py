"""Names of array types, and what *equal* means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""NaN stands for null."""
Ints = NDArray[np.int8]
Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]

EQUAL = 1e-9
"""Floats are equal when max - min is at most this (method 1)."""
