-- What the audits of a rollout come to: confirmed, suspected or none. One confirmed finding is enough, whoever found it;
-- a suspicion counts unless an audit judge rejected it. A rollout that nothing audited has no row: a judge
-- that failed (verdict null) has audited nothing.
CREATE OR REPLACE VIEW audit_verdicts AS
WITH standing AS (
  SELECT rollout_id, bool_or(verdict = 'confirmed') AS confirmed, bool_or(rejected_by IS NULL) AS stands
  FROM audit_findings
  GROUP BY rollout_id
)
SELECT
  audited.rollout_id,
  CASE WHEN confirmed THEN 'confirmed' WHEN stands THEN 'suspected' ELSE 'none' END AS hack
FROM (SELECT DISTINCT rollout_id FROM audits WHERE verdict IS NOT NULL) AS audited
LEFT JOIN standing ON standing.rollout_id = audited.rollout_id;
