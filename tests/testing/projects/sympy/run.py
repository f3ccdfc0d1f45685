"""SymPy's own runner on the tests beside this file, as its `bin/test --verbose` calls it."""

import os
import sys

from sympy.testing.runtests import PyTestReporter, SymPyTests

tests = SymPyTests(PyTestReporter(verbose=True, tb="short", colors=False), False)
tests._testfiles = [os.path.abspath("test_own.py")]
sys.exit(0 if tests.test(timeout=False, slow=False) else 1)
