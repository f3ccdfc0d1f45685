-- The length penalty: R' = max(0, R - penalty * excess ^ exponent) for passes of groups whose pass rate is above the
-- gate. A measure counts where every pass of the group has it and its reference, a quantile of the passes', is above 0.
CREATE OR REPLACE VIEW check_lengths AS
WITH measured AS (
  SELECT rollout_id, task_id, group_id, measure, length
  FROM (
    SELECT
      rollout_id, task_id, group_id,
      unnest(['turns', 'input_tokens', 'output_tokens']) AS measure,
      unnest([n_turns, input_tokens, output_tokens])::DOUBLE AS length
    FROM check_products
    WHERE passes
  ), check_settings
  WHERE list_contains(measures, measure)
),
sorted AS (
  SELECT task_id, group_id, measure, list_sort(list(length)) AS lengths, share * (count(*) - 1) AS position
  FROM measured, check_settings
  GROUP BY task_id, group_id, measure, share
  HAVING bool_and(length IS NOT NULL)
),
neighbours AS (
  SELECT
    task_id, group_id, measure, position - floor(position) AS beyond,
    lengths[floor(position)::INT + 1] AS below, lengths[ceil(position)::INT + 1] AS above
  FROM sorted
),
referenced AS (
  SELECT task_id, group_id, measure, below + beyond * (above - below) AS reference FROM neighbours
),
excesses AS (
  SELECT rollout_id, max((length / reference - 1 - tolerance) / (saturation - tolerance)) AS excess
  FROM measured
  JOIN referenced USING (task_id, group_id, measure), check_settings
  WHERE reference > 0
  GROUP BY rollout_id
),
gated AS (
  SELECT
    *,
    passes AND count(*) FILTER (passes) OVER same / nullif(count(*) FILTER (valid) OVER same, 0)
      > (SELECT gate FROM check_settings) AS is_gated
  FROM check_products
  WINDOW same AS (PARTITION BY task_id, group_id)
),
wanted AS (
  SELECT
    gated.*,
    CASE WHEN is_gated THEN penalty * greatest(0, least(1, coalesce(excess, 0))) ^ exponent ELSE 0.0 END AS wanted
  FROM gated
  LEFT JOIN excesses USING (rollout_id), check_settings
)
SELECT
  * EXCLUDE (wanted, is_gated),
  CASE WHEN valid THEN least(wanted, reward_raw) END AS length_penalty,
  CASE WHEN valid THEN wanted > reward_raw END AS length_floored,
  CASE WHEN valid THEN greatest(0, reward_raw - wanted) END AS reward
FROM wanted;
