-- What the rounds say of each pass of a gar group: lower medians of the checks, majorities of the flags, then tier,
-- rank and quality factor. A round is usable when each of its rows is; a ranking when half of its rounds are and
-- every pass stands in one of those.
CREATE OR REPLACE VIEW check_rankings AS
WITH entries AS (
  SELECT
    rankings.*,
    coalesce(usable, false) AND coalesce(least(approach, precision, minimality, side_effects, craftsmanship) >= 1, false)
      AND greatest(approach, precision, minimality, side_effects, craftsmanship) <= 5
      AND approach + precision + minimality + side_effects + craftsmanship IS NOT NULL AS answered
  FROM rankings
  JOIN check_groups USING (task_id, group_id, rollout_id)
  WHERE route = 'gar' AND passes
),
usable_entries AS (
  SELECT * FROM entries QUALIFY bool_and(answered) OVER (PARTITION BY task_id, group_id, round)
),
medians AS (
  SELECT
    task_id, group_id, rollout_id,
    list_sort(list(approach))[(count(*) + 1) // 2] AS approach,
    list_sort(list(precision))[(count(*) + 1) // 2] AS precision,
    list_sort(list(minimality))[(count(*) + 1) // 2] AS minimality,
    list_sort(list(side_effects))[(count(*) + 1) // 2] AS side_effects,
    list_sort(list(craftsmanship))[(count(*) + 1) // 2] AS craftsmanship,
    2 * count(*) FILTER (unrequested_rewrite) > count(*) AS rewrite,
    2 * count(*) FILTER (test_workaround) > count(*) AS workaround,
    2 * count(*) FILTER (severe_process_issue) > count(*) AS process_issue,
    2 * count(*) FILTER (unresolved_regression) > count(*) AS regression
  FROM usable_entries
  GROUP BY task_id, group_id, rollout_id
),
states AS (
  SELECT
    task_id, group_id,
    CASE
      WHEN 2 * any_value(good_rounds) >= any_value(rounds) AND any_value(placed) = any_value(group_passes) THEN 'used'
      ELSE 'unusable'
    END AS ranking
  FROM (SELECT task_id, group_id, count(DISTINCT round) AS rounds FROM entries GROUP BY ALL)
  LEFT JOIN (
    SELECT task_id, group_id, count(DISTINCT round) AS good_rounds, count(DISTINCT rollout_id) AS placed
    FROM usable_entries GROUP BY ALL
  ) USING (task_id, group_id)
  JOIN check_groups USING (task_id, group_id)
  GROUP BY task_id, group_id
),
tiered AS (
  SELECT
    *,
    6 * approach + 5 * precision + 4 * minimality + 3 * side_effects + 2 * craftsmanship AS w,
    CASE
      WHEN rewrite OR workaround OR approach <= 1 OR (minimality <= 2 AND side_effects <= 2) THEN 3
      WHEN least(approach, precision, minimality, side_effects, craftsmanship) >= 4
        AND NOT process_issue AND NOT regression THEN 1
      ELSE 2
    END AS tier
  FROM medians
),
placed AS (
  SELECT
    *,
    dense_rank() OVER (PARTITION BY task_id, group_id ORDER BY tier, w DESC) AS rank,
    dense_rank() OVER (PARTITION BY task_id, group_id, tier ORDER BY w DESC) - 1 AS place
  FROM tiered
),
graded AS (
  SELECT *, 1 + max(place) OVER (PARTITION BY task_id, group_id, tier) AS sets FROM placed
)
SELECT
  states.task_id, states.group_id, ranking, rollout_id, tier, rank,
  CASE tier
    WHEN 1 THEN CASE WHEN place = 0 THEN first_best ELSE first_other END
    WHEN 2 THEN second_best - (second_best - second_worst) * place / greatest(sets - 1, 1)
    WHEN 3 THEN third
  END AS quality_factor
FROM states
LEFT JOIN graded ON ranking = 'used' AND graded.task_id = states.task_id AND graded.group_id = states.group_id,
check_settings;
