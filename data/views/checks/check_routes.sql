-- Validity, hack reset and routing. A pass that is no confirmed hack is a pass; the route follows from the pass rate of
-- the known outcomes of the task (or group).
CREATE OR REPLACE VIEW check_routes AS
WITH counted AS (
  SELECT
    reward_inputs.*,
    outcome IN ('passed', 'failed', 'truncated') AS known,
    outcome = 'passed' AND hack IS DISTINCT FROM 'confirmed' AS passes,
    CASE WHEN routing = 'task' THEN '' ELSE group_id END AS unit,
    routing, grs_from
  FROM reward_inputs, check_settings
  WHERE rollout_id IN (SELECT rollout_id FROM rewards) AND for_judge IS NOT DISTINCT FROM (SELECT max(judge) FROM rewards)
)
SELECT
  * EXCLUDE (hack),
  CASE WHEN outcome <> 'passed' AND hack IS NOT NULL THEN 'none' ELSE hack END AS hack,
  CASE
    WHEN routing = 'grs' THEN 'grs'
    WHEN count(*) FILTER (passes) OVER same = 0 THEN 'plain'
    WHEN count(*) FILTER (passes) OVER same / count(*) FILTER (known) OVER same >= grs_from THEN 'grs'
    ELSE 'gar'
  END AS route
FROM counted
WINDOW same AS (PARTITION BY task_id, unit);
