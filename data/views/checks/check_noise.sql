-- Whether the scores of a group's passes differ by no more than the median spread of a judge's repeats; no row where
-- there are no repeats, or fewer than two scored passes.
CREATE OR REPLACE VIEW check_noise AS
WITH repeats AS (
  SELECT rollout_id, repeat, CASE WHEN bool_and(score IS NOT NULL) THEN product(score) END AS score
  FROM score_repeats, check_settings
  WHERE list_contains(factors, kind) AND rubric_digest IN (SELECT rubric_digest FROM rubrics)
    AND judge = (SELECT max(judge) FROM rewards)
  GROUP BY rollout_id, repeat
),
spreads AS (
  SELECT rollout_id, max(score) - min(score) AS spread FROM repeats GROUP BY rollout_id HAVING count(score) > 1
)
SELECT
  task_id, group_id,
  max(score) FILTER (passes) - min(score) FILTER (passes) <= median(spread) FILTER (passes) + 1e-9 AS within_noise
FROM check_products
LEFT JOIN spreads USING (rollout_id)
GROUP BY task_id, group_id
HAVING count(score) FILTER (passes) >= 2 AND count(spread) FILTER (passes) > 0;
