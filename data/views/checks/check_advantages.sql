-- GAR: advantage moves to the better passes. scale = sum A / sum f * A over the passes with A > 0, at most the cap;
-- where the cap binds, the mean of all A' is subtracted. The twin adds the group's mean to A' before that.
CREATE OR REPLACE VIEW check_advantages AS
WITH states AS (
  SELECT DISTINCT task_id, group_id, ranking FROM check_rankings
),
factored AS (
  SELECT
    check_groups.*,
    coalesce(states.ranking, 'none') AS ranking,
    tier, rank,
    CASE WHEN route = 'gar' AND passes THEN coalesce(quality_factor, 1.0) END AS quality_factor,
    route = 'gar' AND kept AS active,
    route = 'gar' AND kept AND passes AND advantage_base > 0 AS gains
  FROM check_groups
  LEFT JOIN states ON states.task_id = check_groups.task_id AND states.group_id = check_groups.group_id
  LEFT JOIN (SELECT rollout_id, tier, rank, quality_factor FROM check_rankings WHERE rollout_id IS NOT NULL) AS ranked
    ON ranked.rollout_id = check_groups.rollout_id
),
scaled AS (
  SELECT
    *,
    CASE WHEN active THEN sum(advantage_base) FILTER (gains) OVER same END AS mass_before,
    mass_before / sum(quality_factor * advantage_base) FILTER (gains) OVER same AS scale_uncapped,
    scale_uncapped > cap * (1 + 1e-9) AS capped,
    CASE WHEN capped THEN cap ELSE scale_uncapped END AS scale
  FROM factored
  WINDOW same AS (PARTITION BY task_id, group_id)
),
shifted AS (
  SELECT *, CASE WHEN gains THEN scale * quality_factor * advantage_base ELSE advantage_base END AS moved FROM scaled
),
centred AS (
  SELECT *, moved - CASE WHEN capped THEN avg(moved) OVER (PARTITION BY task_id, group_id) ELSE 0 END AS final
  FROM shifted
)
SELECT
  * EXCLUDE (final, moved, gains, active),
  CASE WHEN active THEN sum(greatest(final, 0)) OVER (PARTITION BY task_id, group_id) END AS mass_after,
  CASE WHEN kept THEN final END AS advantage,
  CASE WHEN NOT kept THEN NULL WHEN route = 'gar' THEN group_mean + moved / estimator_factor ELSE reward END AS reward_star
FROM centred;
