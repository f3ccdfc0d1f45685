-- Each reward beside its task's environment: whether preparation found it clean, and what it had found open at first.
-- `environment_clean` null: never prepared, or it could not be.
CREATE OR REPLACE VIEW environment_of_reward AS
SELECT
  rewards.task_id, rewards.group_id, rewards.rollout_id, rewards.run, rewards.test, rewards.hack, rewards.reward,
  environments.image, environments.backend,
  environments.clean AS environment_clean,
  environments.findings AS leaks_found,
  environments.open AS leaks_left,
  environments.failure_class AS environment_failure
FROM rewards
LEFT JOIN environments ON environments.task_id = rewards.task_id;
