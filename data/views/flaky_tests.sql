-- What runs of one rollout (`run:<k>`) do not agree on: one row per test whose status, or presence, changes, and one
-- with `test_id` null where the outcome itself does. Infra runs say nothing; nor do runs without statuses, of tests.
-- `said`: what each run said, in their order. `chosen_outcomes` takes the latest.
CREATE OR REPLACE VIEW flaky_tests AS
WITH runs AS (
  SELECT
    task_id, rollout_id, outcome, CAST(tests AS JSON) AS tests,
    TRY_CAST(regexp_extract(source, '^run:([0-9]+)$', 1) AS HUGEINT) AS run,
    count(tests) OVER (PARTITION BY rollout_id) AS told
  FROM outcomes
  WHERE regexp_full_match(source, 'run:[0-9]+') AND outcome <> 'infra'
),
statuses AS (
  SELECT task_id, rollout_id, run, told, unnest(map_entries(CAST(tests AS MAP(VARCHAR, VARCHAR)))) AS entry
  FROM runs
  WHERE tests IS NOT NULL
)
SELECT
  task_id, rollout_id, entry.key AS test_id, count(*) AS runs,
  count(*) FILTER (WHERE entry.value = 'passed') AS passes,
  string_agg('run:' || run || ' ' || entry.value, ', ' ORDER BY run) AS said
FROM statuses
GROUP BY ALL
HAVING count(DISTINCT entry.value) > 1 OR count(*) < any_value(told)
UNION ALL
SELECT
  task_id, rollout_id, NULL AS test_id, count(*) AS runs,
  count(*) FILTER (WHERE outcome = 'passed') AS passes,
  string_agg('run:' || run || ' ' || outcome, ', ' ORDER BY run) AS said
FROM runs
GROUP BY task_id, rollout_id
HAVING count(DISTINCT outcome) > 1;
