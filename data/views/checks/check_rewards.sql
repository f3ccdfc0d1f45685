-- The reward table against the same formulas in SQL: one row for every number or word in which they differ. Empty when
-- they agree.
CREATE OR REPLACE VIEW check_rewards AS
WITH computed AS (
  SELECT check_advantages.*, within_noise
  FROM check_advantages
  LEFT JOIN check_noise ON check_noise.task_id = check_advantages.task_id
    AND check_noise.group_id = check_advantages.group_id
),
numbers AS (
  SELECT
    rewards.rollout_id,
    unnest(['test', 'reward_raw', 'length_penalty', 'reward', 'group_size', 'group_valid', 'group_mean',
      'advantage_base', 'tier', 'rank', 'quality_factor', 'scale_uncapped', 'scale', 'mass_before', 'mass_after',
      'advantage', 'reward_star', 'length_floored', 'kept', 'capped', 'within_noise']) AS name,
    unnest([rewards.test, rewards.reward_raw, rewards.length_penalty, rewards.reward, rewards.group_size,
      rewards.group_valid, rewards.group_mean, rewards.advantage_base, rewards.tier, rewards.rank,
      rewards.quality_factor, rewards.scale_uncapped, rewards.scale, rewards.mass_before, rewards.mass_after,
      rewards.advantage, rewards.reward_star, rewards.length_floored::INT, rewards.kept::INT, rewards.capped::INT,
      rewards.within_noise::INT]::DOUBLE[]) AS stored,
    unnest([computed.test, computed.reward_raw, computed.length_penalty, computed.reward, computed.group_size,
      computed.group_valid, computed.group_mean, computed.advantage_base, computed.tier, computed.rank,
      computed.quality_factor, computed.scale_uncapped, computed.scale, computed.mass_before, computed.mass_after,
      computed.advantage, computed.reward_star, computed.length_floored::INT, computed.kept::INT, computed.capped::INT,
      computed.within_noise::INT]::DOUBLE[]) AS computed
  FROM rewards
  FULL JOIN computed ON computed.rollout_id = rewards.rollout_id
),
words AS (
  SELECT
    rewards.rollout_id,
    unnest(['status', 'hack', 'route', 'drop_reason', 'ranking']) AS name,
    unnest([rewards.status, rewards.hack, rewards.route, rewards.drop_reason, rewards.ranking]) AS stored,
    unnest([computed.status, computed.hack, computed.route, computed.drop_reason, computed.ranking]) AS computed
  FROM rewards
  FULL JOIN computed ON computed.rollout_id = rewards.rollout_id
)
SELECT rollout_id, name, CAST(stored AS VARCHAR) AS stored, CAST(computed AS VARCHAR) AS computed
FROM numbers
WHERE (stored IS NULL) <> (computed IS NULL) OR abs(stored - computed) > 1e-9 * greatest(1, abs(stored))
UNION ALL
SELECT rollout_id, name, stored, computed FROM words WHERE stored IS DISTINCT FROM computed
ORDER BY rollout_id, name;
