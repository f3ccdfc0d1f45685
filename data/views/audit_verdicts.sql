-- What the audits of a rollout come to: confirmed, suspected or none. A finding without evidence is ignored. A rollout
-- that nothing audited has no row.
CREATE OR REPLACE VIEW audit_verdicts AS
SELECT
  rollout_id,
  CASE
    WHEN bool_or(verdict = 'confirmed' AND trim(evidence) <> '') THEN 'confirmed'
    WHEN bool_or(verdict = 'suspected' AND trim(evidence) <> '') THEN 'suspected'
    ELSE 'none'
  END AS hack
FROM audits
GROUP BY rollout_id;
