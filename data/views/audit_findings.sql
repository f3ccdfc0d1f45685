-- What the audits found, confirmed findings first: the pattern, where it stands (JSON list of pointers), why.
CREATE OR REPLACE VIEW audit_findings AS
SELECT
  audits.task_id, rollouts.run, rollouts.attempt, audits.rollout_id, audits.source, audits.verdict, audits.kind,
  audits.reason, audits.evidence
FROM audits
JOIN rollouts ON rollouts.rollout_id = audits.rollout_id
WHERE audits.verdict <> 'none' AND trim(audits.evidence) <> ''
ORDER BY audits.verdict, audits.task_id, rollouts.run, audits.kind;
