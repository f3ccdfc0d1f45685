-- The outcome that counts for each rollout, as `rubrics.outcomes.choose` says it: infra by the exit status, else the
-- verdict of the latest run, else of a given outcome file, else of the harness, else of what a publisher recorded, else a
-- truncation, else a run that broke, else unknown. Sources of one rank that differ give a failure; a failure after a
-- truncated exit is `truncated`.
CREATE OR REPLACE VIEW chosen_outcomes AS
WITH said AS (
  SELECT
    rollout_id, source, outcome, detail, rung,
    CASE
      WHEN source = 'exit' THEN CASE outcome WHEN 'infra' THEN 0 WHEN 'truncated' THEN 6 END
      WHEN outcome IN ('passed', 'failed') THEN
        CASE split_part(source, ':', 1) WHEN 'run' THEN 1 WHEN 'file' THEN 2 WHEN 'harness' THEN 3 ELSE 4 END
      WHEN outcome = 'truncated' THEN 5
      WHEN outcome = 'infra' THEN 7
    END AS preference,
    coalesce(TRY_CAST(regexp_extract(source, '^run:([0-9]+)$', 1) AS HUGEINT), 0) AS number
  FROM outcomes
),
first_choice AS (
  SELECT
    *,
    bool_or(source = 'exit' AND outcome = 'truncated') OVER (PARTITION BY rollout_id) AS cut,
    row_number() OVER (
      PARTITION BY rollout_id
      ORDER BY preference, CASE WHEN preference = 1 THEN number END DESC, outcome = 'failed' DESC, source
    ) AS place
  FROM said
  WHERE preference IS NOT NULL
)
SELECT
  rollouts.rollout_id,
  rollouts.task_id,
  CASE WHEN cut AND outcome = 'failed' THEN 'truncated' ELSE coalesce(outcome, 'unknown') END AS outcome,
  first_choice.source AS source,
  detail,
  rung
FROM rollouts
LEFT JOIN first_choice ON first_choice.rollout_id = rollouts.rollout_id AND place = 1;
