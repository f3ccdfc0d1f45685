-- Group statistics, the filter, and the advantage before redistribution. A group is dropped when fewer than two rows
-- count, when a gar group lacks a pass or a failure, or when its final rewards are all equal.
CREATE OR REPLACE VIEW check_groups AS
WITH totals AS (
  SELECT
    *,
    count(*) OVER same AS group_size,
    count(*) FILTER (valid) OVER same AS group_valid,
    count(*) FILTER (passes) OVER same AS group_passes,
    avg(reward) OVER same AS group_mean,
    max(reward) OVER same - min(reward) OVER same AS spread,
    stddev_samp(reward) OVER same AS deviation
  FROM check_lengths
  WINDOW same AS (PARTITION BY task_id, group_id)
),
filtered AS (
  SELECT
    *,
    CASE
      WHEN group_valid < 2 THEN 'too_few_valid'
      WHEN route = 'gar' AND group_passes IN (0, group_valid) THEN 'one_outcome'
      WHEN spread <= 1e-9 THEN 'equal_rewards'
    END AS drop_reason,
    CASE
      WHEN group_valid < 2 OR estimator = 'dr_grpo' THEN 1.0
      WHEN estimator = 'std' THEN 1 / (deviation + std_eps)
      ELSE group_valid / (group_valid - 1)
    END AS estimator_factor
  FROM totals, check_settings
)
SELECT *, drop_reason IS NULL AS kept, estimator_factor * (reward - group_mean) AS advantage_base
FROM filtered;
