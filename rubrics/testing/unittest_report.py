"""Runs unittest and writes what each test did to a file. Copied into environments; standard library of any Python 3.

Called in place of `python -m unittest`: `python unittest_report.py REPORT NONCE ARGUMENTS...`. The report is one JSON
object a line: a test and its status, and at the very end the nonce with the number of tests.
"""
# mypy: ignore-errors

import json
import os
import sys
import unittest


def main():
    path, nonce = sys.argv[1:3]
    own = os.path.abspath(__file__)
    report = open(path, "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
    os.remove(own)
    sys.argv = ["python -m unittest", *sys.argv[3:]]
    sys.path[0] = os.getcwd()
    count = [0]

    class Result(unittest.TextTestResult):
        def _note(self, test, status):
            count[0] += 1
            report.write(json.dumps([str(test).split("\n")[0], test.id(), status]) + "\n")
            report.flush()

        def addSuccess(self, test):
            super().addSuccess(test)
            self._note(test, "passed")

        def addFailure(self, test, err):
            super().addFailure(test, err)
            self._note(test, "failed")

        def addError(self, test, err):
            super().addError(test, err)
            self._note(test, "error")

        def addSkip(self, test, reason):
            super().addSkip(test, reason)
            self._note(test, "skipped")

        def addExpectedFailure(self, test, err):
            super().addExpectedFailure(test, err)
            self._note(test, "xfailed")

        def addUnexpectedSuccess(self, test):
            super().addUnexpectedSuccess(test)
            self._note(test, "failed")

        def addSubTest(self, test, subtest, err):
            super().addSubTest(test, subtest, err)
            if err is not None:
                self._note(test, "failed")

    class Runner(unittest.TextTestRunner):
        resultclass = Result

    program = unittest.main(module=None, argv=sys.argv, testRunner=Runner, exit=False)
    report.write(json.dumps([nonce, count[0], program.result.testsRun]) + "\n")
    report.close()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0 if program.result.wasSuccessful() else 1)


main()
