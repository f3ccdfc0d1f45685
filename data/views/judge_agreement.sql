-- How far a judge's repeats agree on each criterion: the share of repeats that say the median value, and the largest
-- difference. Null where a repeat has no verdict. Only what a model was asked: what is computed agrees with itself.
CREATE OR REPLACE VIEW judge_agreement AS
WITH medians AS (
  SELECT *, median(value) OVER (PARTITION BY rollout_id, rubric_digest, criterion_id, judge) AS median_value
  FROM grades
  WHERE prompt_digest IS NOT NULL AND (rollout_id, judge) IN (SELECT (rollout_id, judge) FROM grades WHERE repeat > 0)
)
SELECT
  rollout_id, task_id, kind, rubric_digest, criterion_id, judge,
  count(*) AS repeats,
  CASE WHEN count(value) = count(*) THEN any_value(median_value) END AS median_value,
  CASE WHEN count(value) = count(*) THEN avg(CASE WHEN value = median_value THEN 1.0 ELSE 0.0 END) END AS agreement,
  CASE WHEN count(value) = count(*) THEN max(value) - min(value) END AS spread
FROM medians
GROUP BY rollout_id, task_id, kind, rubric_digest, criterion_id, judge;
