-- How much the place in which a pass was shown moved its marks, per judge: points of W (20 to 100) and standard deviations
-- of W among those compared at once. The effect of a position beside one level per pass, as `rubrics.ranking.bias` says
-- it. Only usable rounds, and only marks that come from one showing: anchors and equal patches have no position.
CREATE OR REPLACE VIEW position_bias AS
WITH marked AS (
  SELECT
    *, 6 * approach + 5 * precision + 4 * minimality + 3 * side_effects + 2 * craftsmanship AS w
  FROM rankings
  QUALIFY bool_and(coalesce(usable, false) AND w IS NOT NULL) OVER (PARTITION BY task_id, group_id, round)
),
shown AS (
  SELECT
    judge, judge_model, task_id, group_id, slice, round, label,
    min(rollout_id) AS candidate,
    any_value(position) AS position,
    any_value(w) AS w
  FROM marked
  WHERE position IS NOT NULL
  GROUP BY judge, judge_model, task_id, group_id, slice, round, label
),
spread AS (
  SELECT *, stddev_pop(w) OVER (PARTITION BY judge, judge_model, task_id, group_id, slice) AS deviation FROM shown
),
places AS (SELECT DISTINCT judge, judge_model, position AS place FROM shown),
moved AS (
  SELECT
    spread.judge, spread.judge_model, place, w, deviation,
    CASE WHEN position = place THEN 1 ELSE 0 END AS here,
    here - avg(here) OVER (
      PARTITION BY spread.judge, spread.judge_model, place, task_id, group_id, slice, candidate
    ) AS x
  FROM spread
  JOIN places
    ON places.judge IS NOT DISTINCT FROM spread.judge AND places.judge_model IS NOT DISTINCT FROM spread.judge_model
)
SELECT
  judge, judge_model, place AS position,
  sum(here)::BIGINT AS entries,
  sum(x * w) / nullif(sum(x * x), 0) AS points,
  sum(x * w / deviation) FILTER (deviation > 0) / nullif(sum(x * x) FILTER (deviation > 0), 0) AS standardized
FROM moved
GROUP BY judge, judge_model, place
ORDER BY judge, judge_model, position;
