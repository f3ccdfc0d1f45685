"""Breaks each formula of the reward engine on purpose and shows that a test fails: `make mutations`.

Each mutation is one replacement in a copy of the package, which is put before the installed one on the path. A mutation
that no test notices is named and makes the exit code 1; so does a replacement that no longer fits its file.
"""
# ruff: noqa: E501 (one mutation a line, so that the table can be read)

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
Mutation = tuple[str, str, str, str, str]

CORE = "examples redistribution whole"
MUTATIONS: tuple[Mutation, ...] = (
    # file, what is broken, from, to, tests that may notice
    ("product", "infra counts as a failure", '("passed", "failed", "truncated")', '("passed", "failed", "truncated", "infra")', "whole"),
    ("product", "truncated rollouts are masked", '("passed", "failed", "truncated")', '("passed", "failed")', "whole"),
    ("product", "a pass without a score is 0", "np.where(valid, score, np.nan), valid)", "np.where(known, np.nan_to_num(score), np.nan), known)", "whole"),
    ("product", "a failure needs scores", "applies & multiplied & passes", "applies & multiplied", "whole"),
    ("product", "only the last factor counts", "score * values", "values", "examples"),
    ("product", "factors are added", "score * values", "score + values", "examples"),
    ("product", "a rubric without criteria masks", "applies & multiplied & passes, ", "multiplied & passes, ", "whole"),
    ("product", "grades multiply on every route", "applies & multiplied & passes, ", "applies & passes, ", "whole"),
    ("hacks", "a hack keeps its reward", "(outcome == PASSED) & (hack != CONFIRMED)", "(outcome == PASSED)", "examples"),
    ("hacks", "a suspicion resets", "(hack != CONFIRMED)", "(hack < SUSPECTED)", "whole"),
    ("hacks", "failures can be hacks", "(outcome != PASSED) & (hack > NONE)", "(outcome != PASSED) & (hack > CONFIRMED)", "whole"),
    ("routing", "0.8 itself is ranked", "rate >= grs_from", "rate > grs_from", "examples"),
    ("routing", "none passing is ranked", "passing == 0", "passing < 0", "examples"),
    ("engine", "the route is told before the reset", "of_task = routes(tasks, known, passes,", "of_task = routes(tasks, known, inputs.outcome == 0,", "whole"),
    ("engine", "masked rows count for the route", "known = known_outcome(inputs.outcome)", "known = inputs.outcome >= 0", "whole"),
    ("engine", "routing per group is per task", 'config.routing == "group"', 'config.routing == "groups"', "whole"),
    ("length", "the gate opens at itself", "rate > config.gate", "rate >= config.gate", "length"),
    ("length", "no floor", "np.minimum(wanted, reward)", "wanted", "length"),
    ("length", "failures pay", "gated = passes & ", "gated = valid & ", "length"),
    ("length", "the mildest measure decides", "np.fmax(worst", "np.fmin(worst", "length"),
    ("length", "a measure that a pass lacks counts", "usable = gated & ~groups.each(lacking)", "usable = gated & ~np.isnan(length)", "length"),
    ("length", "no exponent", "** config.exponent", "** 1", "length"),
    ("length", "no saturation", "np.minimum(worst, 1.0)", "worst", "length"),
    ("length", "tolerance is forgotten", "- 1 - config.tolerance)", "- 1)", "length"),
    ("length", "tolerance is forgotten below", "(config.saturation - config.tolerance)", "config.saturation", "length"),
    ("length", "the floor is never told", "floored = gated & (wanted > reward)", "floored = gated & (wanted > 2)", "length"),
    ("length", "the floor is told when it just fits", "wanted > reward", "wanted >= reward", "length"),
    ("quantiles", "no interpolation", "low + (position - below) * (high - low)", "low", "length"),
    ("quantiles", "quantile over n", "share * (sizes - 1)", "share * sizes - share / 2", "length"),
    ("filtering", "one valid row is enough", "MIN_VALID = 2", "MIN_VALID = 1", "whole"),
    ("filtering", "one-sided gar groups are kept", "(n_passes == 0) | (n_passes == n_valid)", "(n_passes == 0)", "whole"),
    ("filtering", "equal rewards are kept", "drop[groups.spread(reward, valid) <= EQUAL] = ALL_EQUAL", "pass", "whole"),
    ("engine", "the filter looks at the test", "drop_reasons(groups, final.reward,", "drop_reasons(groups, raw.test,", "whole"),
    ("arrays", "equal means within 1e-6", "EQUAL = 1e-9", "EQUAL = 1e-6", "whole"),
    ("centring", "masked rows count in the mean", "n = groups.count(valid)", "n = groups.sizes", "whole"),
    ("centring", "std of the population", "np.sqrt(squares / several)", "np.sqrt(squares / n)", "redistribution"),
    ("centring", "std without eps", " + std_eps)", ")", "redistribution"),
    ("centring", "leave-one-out is plain", "np.where(n > 1, n / several, 1.0)", "np.where(n > 1, 1.0, 1.0)", "redistribution"),
    ("redistribution", "no scale", "groups.each(scale) * weighted", "weighted", CORE),
    ("redistribution", "no quality", "quality * advantage, 0.0)", "advantage, 0.0)", CORE),
    ("redistribution", "failures are scaled too", "gaining = passes & ", "gaining = ~np.isnan(advantage) & ", CORE),
    ("redistribution", "passes below the mean are scaled", " & (advantage > 0)", " & (advantage > -9)", CORE),
    ("redistribution", "no cap", "capped = uncapped > cap * (1 + EQUAL)", "capped = uncapped > 1e9", CORE),
    ("redistribution", "the cap binds at itself", "capped = uncapped > cap * (1 + EQUAL)", "capped = uncapped >= cap * (1 - EQUAL)", CORE),
    ("redistribution", "no re-centring", "np.where(capped, divided(total, groups.count(kept)), 0.0)", "np.zeros(len(groups))", CORE),
    ("redistribution", "masked rows take part in re-centring", "divided(total, groups.count(kept))", "divided(total, groups.sizes)", CORE),
    ("redistribution", "mass after is that before re-centring", "np.where(final > 0, final, 0.0)", "np.where(shifted > 0, shifted, 0.0)", CORE),
    ("redistribution", "the twin forgets the mean", "groups.each(mean) + shifted", "shifted", CORE),
    ("redistribution", "the twin forgets the estimator", "shifted / groups.each(factor)", "shifted", CORE),
    ("engine", "the twin is made of centred advantages", "reward_twin(groups, moved.shifted,", "reward_twin(groups, base.advantage,", CORE),
    ("engine", "dropped groups keep advantages", "advantage=np.where(kept, moved.advantage, np.nan)", "advantage=moved.advantage", CORE),
    ("engine", "grs is redistributed", "active = (drop == KEPT) & (route == GAR)", "active = (drop == KEPT)", "whole ranking"),
    ("ranking", "upper median", "half = (n + 1) // 2", "half = n // 2 + 1", "ranking"),
    ("ranking", "half a majority is one", "2 * np.stack(counts, axis=1) > ", "2 * np.stack(counts, axis=1) >= ", "ranking"),
    ("ranking", "half of the rounds is too few", "2 * good >= rounds", "2 * good > rounds", "ranking"),
    ("ranking", "any usable round will do", "2 * good >= rounds", "good > 0", "ranking"),
    ("ranking", "a pass outside the ranking is no matter", "half & whole", "half", "ranking"),
    ("ranking", "hacks stay in the ranking", "own = ranked[rankings.row]", "own = ranked[rankings.row] | True", "ranking"),
    ("ranking", "missing checks are no matter", "answered & rankings.usable[own]", "rankings.usable[own]", "ranking"),
    ("ranking", "usable is not read", "answered & rankings.usable[own]", "answered", "ranking"),
    ("tiers", "weights in another order", "[6, 5, 4, 3, 2]", "[5, 6, 4, 3, 2]", "examples ranking"),
    ("tiers", "a rewrite is no matter", "third = rewrite | workaround", "third = workaround", "ranking"),
    ("tiers", "a workaround is no matter", "third = rewrite | workaround", "third = rewrite", "ranking"),
    ("tiers", "approach 2 is tier 3", "checks[:, 0] <= 1", "checks[:, 0] <= 2", "ranking"),
    ("tiers", "one of the two is enough", "(checks[:, 2] <= 2) & (checks[:, 3] <= 2)", "(checks[:, 2] <= 2) | (checks[:, 3] <= 2)", "ranking"),
    ("tiers", "tier 1 from 3", "checks.T >= 4", "checks.T >= 3", "ranking"),
    ("tiers", "a severe process issue is no matter", " & ~process", "", "ranking"),
    ("tiers", "a regression is no matter", " & ~regression", "", "ranking"),
    ("tiers", "ties are broken by place", "key = (group * 4 + tier) * (_MOST + 1) + (_MOST - checks @ _WEIGHTS)", "key = ((group * 4 + tier) * (_MOST + 1) + (_MOST - checks @ _WEIGHTS)) * 1 + (np.arange(len(tier)) % 2)", "examples ranking"),
    ("tiers", "every tier 1 is best", "place == 0, ", "place >= 0, ", "examples ranking"),
    ("tiers", "tier 2 falls by a fixed step", "np.maximum(sets - 1, 1)", "4", "examples ranking"),
    ("noise", "one pass is compared", ">= 2)", ">= 1)", "sql"),
    ("noise", "the largest repeat counts", "~np.isnan(repeat_spread), 0.5)", "~np.isnan(repeat_spread), 1.0)", "sql"),
    ("tokens", "alpha takes twice the mass", "more = 1 + np", "more = 1 + 2 * np", "tokens examples"),
    ("tokens", "alpha is not clamped", "np.minimum(more, config.alpha_max)", "more", "tokens"),
    ("tokens", "beta is not clamped", "np.maximum(less, config.beta_min)", "less", "tokens"),
    ("tokens", "beta forgets that flagged ones stay", "(config.kappa - 1)", "config.kappa", "tokens examples"),
    ("tokens", "signs are mixed", "gain, loss = advantage > 0, advantage < 0", "gain, loss = advantage >= -9, advantage < 0", "tokens"),
    ("tokens", "a side without clean tokens is not told", "(mass.clean_positive == 0)", "(mass.clean_positive < 0)", "tokens"),
    ("tokens", "parts do not add up", "self.clean_negative + other.clean_negative", "other.clean_negative", "tokens"),
    ("segments", "the group of a row is off by one", "np.repeat(np.arange(len(starts)), sizes)", "np.repeat(np.arange(len(starts))[::-1], sizes)", CORE),
)  # fmt: skip


def survives(mutation: Mutation, folder: Path) -> str | None:
    """What there is to complain about: the tests passed, or the replacement does not fit."""
    module, what, old, new, tests = mutation
    copy = folder / f"{MUTATIONS.index(mutation)}"
    shutil.copytree(ROOT / "rubrics", copy / "rubrics", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("data", "flows", "prompts"):
        (copy / name).symlink_to(ROOT / name)
    target = copy / "rubrics" / "rewards" / f"{module}.py"
    text = target.read_text("utf-8")
    if text.count(old) != 1:
        return f"{module}: {what}: {old!r} stands {text.count(old)} times; wanted once"
    target.write_text(text.replace(old, new), "utf-8")
    files = [str(ROOT / "tests" / "unit" / f"test_engine_{name}.py") for name in tests.split()]
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:randomly", "--noconftest", *files]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    shutil.rmtree(copy)
    if done.returncode == 1 and "failed" in done.stdout.splitlines()[-1]:
        return None
    return f"{module}: {what}: survives {tests} (pytest ended with {done.returncode})"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda mutation: survives(mutation, Path(folder)), MUTATIONS))
    for mutation, complaint in zip(MUTATIONS, found, strict=True):
        print(f"{'killed  ' if complaint is None else 'SURVIVED'}  {mutation[0]:<15} {mutation[1]}")
    complaints = [complaint for complaint in found if complaint is not None]
    print(f"{len(found) - len(complaints)} of {len(found)} killed", *complaints, sep="\n")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
