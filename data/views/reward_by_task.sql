-- One line per group: how many rollouts, how many count, how many passed, how the rewards spread.
CREATE OR REPLACE VIEW reward_by_task AS
SELECT
  task_id, group_id,
  any_value(source_group) AS source_group,
  count(*) AS rollouts,
  any_value(group_valid) AS valid,
  count(*) FILTER (WHERE test = 1) AS passed,
  any_value(route) AS route,
  any_value(kept) AS kept,
  any_value(drop_reason) AS drop_reason,
  min(reward) AS lowest,
  any_value(group_mean) AS mean,
  max(reward) AS highest
FROM rewards
GROUP BY task_id, group_id
ORDER BY task_id, group_id;
