"""`python -m rubrics`. Prefer the command `rubrics`: `-m` lets Python import code from the working folder."""

from rubrics.cli.main import main

main()
