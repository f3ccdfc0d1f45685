-- Token weights of each batch (policy, policy step): alpha for clean tokens of rollouts with a positive advantage, beta
-- for those with a negative one. Flagged tokens weigh 0 and kappa.
CREATE OR REPLACE VIEW check_tokens AS
WITH counted AS (
  SELECT
    transcript_digest, task_id,
    sum(output_tokens) FILTER (list_has_any(own_turns.flags, check_settings.flags)) AS flagged,
    coalesce(sum(output_tokens) FILTER (NOT list_has_any(own_turns.flags, check_settings.flags)), 0) AS clean,
    bool_and(output_tokens IS NOT NULL) AS complete
  FROM own_turns, check_settings
  GROUP BY transcript_digest, task_id
  HAVING bool_or(list_has_any(own_turns.flags, check_settings.flags))
),
owners AS (
  SELECT
    rewards.policy, rewards.policy_step, advantage,
    CASE WHEN complete IS NULL THEN 0 WHEN complete THEN flagged END * abs(advantage) AS flagged,
    CASE WHEN complete IS NULL THEN output_tokens WHEN complete THEN clean END * abs(advantage) AS clean
  FROM rewards
  JOIN rollouts ON rollouts.rollout_id = rewards.rollout_id
  LEFT JOIN counted
    ON counted.transcript_digest = rewards.transcript_digest AND counted.task_id = rewards.task_id
  WHERE advantage IS NOT NULL
),
masses AS (
  SELECT
    policy, policy_step,
    coalesce(sum(flagged) FILTER (advantage > 0), 0) AS flagged_positive,
    coalesce(sum(clean) FILTER (advantage > 0), 0) AS clean_positive,
    coalesce(sum(flagged) FILTER (advantage < 0), 0) AS flagged_negative,
    coalesce(sum(clean) FILTER (advantage < 0), 0) AS clean_negative
  FROM owners
  GROUP BY policy, policy_step
),
coefficients AS (
  SELECT
    *,
    least(alpha_max, 1 + coalesce(flagged_positive / nullif(clean_positive, 0), 0)) AS alpha,
    greatest(beta_min, 1 - (kappa - 1) * coalesce(flagged_negative / nullif(clean_negative, 0), 0)) AS beta
  FROM masses, check_settings
)
SELECT
  policy, policy_step, alpha, beta,
  flagged_positive + clean_positive AS mass_positive, alpha * clean_positive AS mass_positive_after,
  flagged_negative + clean_negative AS mass_negative,
  beta * clean_negative + kappa * flagged_negative AS mass_negative_after
FROM coefficients;
