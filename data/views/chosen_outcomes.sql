-- The outcome that counts for each rollout (design section 2): infra by the exit status, else the latest run, else a
-- given outcome file, else what the harness recorded, else a truncated exit, else unknown. A truncated attempt that the
-- tests did not pass stays `truncated`.
CREATE OR REPLACE VIEW chosen_outcomes AS
WITH said AS (
  SELECT
    rollout_id, source, outcome, detail, rung,
    CASE
      WHEN source = 'exit' AND outcome = 'infra' THEN 0
      WHEN outcome = 'infra' THEN 5  -- an environment that broke says nothing against what other sources found
      WHEN source LIKE 'run:%' THEN 1
      WHEN source LIKE 'file:%' THEN 2
      WHEN source LIKE 'harness:%' THEN 3
      WHEN source = 'exit' THEN 4
    END AS preference,
    CASE WHEN source LIKE 'run:%' THEN TRY_CAST(substr(source, 5) AS BIGINT) ELSE 0 END AS number
  FROM outcomes
  WHERE outcome <> 'unknown'
),
first_choice AS (
  SELECT
    *,
    bool_or(source = 'exit' AND outcome = 'truncated') OVER (PARTITION BY rollout_id) AS cut,
    row_number() OVER (PARTITION BY rollout_id ORDER BY preference, number DESC, source) AS place
  FROM said
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
