"""The reward configuration: what a person may write, and what is said where it may not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rubrics.errors import UsageError
from rubrics.rewards.config import RewardConfig
from rubrics.rewards.settings import resolve
from rubrics.stages.options import Options
from rubrics.stages.reward_config import reward_config


def from_text(tmp_path: Path, text: str, **options: object) -> RewardConfig:
    path = tmp_path / "mine.toml"
    path.write_text(text, "utf-8")
    return reward_config(Options(store="s", config=str(path), **options))


def test_the_defaults_file_says_what_the_code_says() -> None:
    assert reward_config(Options(store="s")) == RewardConfig()


def test_a_file_holds_only_what_differs(tmp_path: Path) -> None:
    found = from_text(tmp_path, 'routing = "group"\n[length]\npenalty = 0\n')
    wanted = RewardConfig()
    assert found == replace(wanted, routing="group", length=replace(wanted.length, penalty=0.0))


def test_factors_on_the_command_line_win_over_the_file(tmp_path: Path) -> None:
    assert from_text(tmp_path, 'factors = ["solution"]').factors == ("solution",)
    assert from_text(tmp_path, 'factors = ["solution"]', factors=("behavior",)).factors == ("behavior",)


def test_the_digest_is_of_the_resolved_values(tmp_path: Path) -> None:
    plain = RewardConfig().digest()
    assert from_text(tmp_path, "grs_from = 0.8").digest() == plain
    assert from_text(tmp_path, "[gar]\ncap = 2").digest() != plain
    assert from_text(tmp_path, "[gar]\ncap = 2").digest() == from_text(tmp_path, "[gar]\ncap = 2.0").digest()


@pytest.mark.parametrize(
    ("text", "key", "value", "wanted"),
    [
        ("colour = 1", "colour", "no such key", "routing"),
        ("[length]\nfloor = 1", "length.floor", "no such key", "penalty"),
        ("length = 3", "length", "3", "a table: [length]"),
        ('routing = "both"', "routing", "'both'", '"task", "group", "grs"'),
        ("routing = 1", "routing", "1", "one of"),
        ('estimator = "grpo"', "estimator", "'grpo'", "dr_grpo"),
        ("grs_from = 0", "grs_from", "0", "above 0 and at most 1"),
        ("grs_from = 80", "grs_from", "80", "above 0 and at most 1"),
        ('grs_from = "0.8"', "grs_from", "'0.8'", "a number"),
        ("grs_from = true", "grs_from", "True", "a number"),
        ("std_eps = -1", "std_eps", "-1", "of at least 0"),
        ("std_eps = nan", "std_eps", "nan", "a number"),
        ("[gar]\ncap = 0.9", "gar.cap", "0.9", "of at least 1"),
        ("[gar]\ncap = inf", "gar.cap", "inf", "a number"),
        ("[length]\npenalty = 1.5", "length.penalty", "1.5", "of at least 0 and at most 1"),
        ('[length]\nmeasures = ["steps"]', "length.measures", "['steps']", "turns, input_tokens, output_tokens"),
        ("[length]\ntolerance = 1\n", "length.saturation", "1", "above the tolerance"),
        ("[quality]\nthird = 0", "quality.third", "0", "above 0"),
        ("[quality]\nthird = 0.5", "quality", "0.5", "do not rise"),
        ("[tokens]\nkappa = 0.5", "tokens.kappa", "0.5", "of at least 1"),
        ("[tokens]\nbeta_min = 2", "tokens.beta_min", "2", "at most 1"),
        ("[tokens]\nalpha_max = 0", "tokens.alpha_max", "0", "of at least 1"),
        ("[tokens]\nflags = 3", "tokens.flags", "3", "a list"),
        ('factors = ["solution", "solution"]', "factors", "solution", "at most once"),
        ('factors = ["taste"]', "factors", "taste", "solution, behavior"),
    ],
)
def test_what_it_may_not_say_is_refused_with_key_value_and_what_is_wanted(
    tmp_path: Path, text: str, key: str, value: str, wanted: str
) -> None:
    with pytest.raises(UsageError) as refused:
        from_text(tmp_path, text)
    said = str(refused.value)
    assert "mine.toml" in said
    for part in (key, value, wanted):
        assert part in said


def test_a_file_that_is_no_toml_or_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"mine\.toml: no TOML"):
        from_text(tmp_path, "a = = b")
    with pytest.raises(UsageError, match="no such file"):
        Options(store="s", config=str(tmp_path / "absent.toml"))


def test_resolving_what_a_configuration_holds_gives_it_back() -> None:
    from dataclasses import asdict

    assert resolve(asdict(RewardConfig()), "here") == RewardConfig()
