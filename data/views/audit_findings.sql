-- What the audits found, confirmed findings first: the pattern, where it stands (JSON list of pointers), why. A finding
-- without evidence is none. `rejected_by`: the audit judge that looked at this very suspicion and rejected it; a
-- confirmed finding, and what an audit judge suspects itself, cannot be rejected.
CREATE OR REPLACE VIEW audit_findings AS
WITH rejected AS (
  SELECT rollout_id, kind, source, unnest(about) AS about
  FROM audits
  WHERE starts_with(source, 'judge:') AND verdict = 'none' AND kind <> 'none'
),
rejections AS (
  SELECT rollout_id, kind, about, min(source) AS rejected_by FROM rejected GROUP BY rollout_id, kind, about
)
SELECT
  audits.task_id, rollouts.run, rollouts.attempt, audits.rollout_id, audits.source, audits.verdict, audits.kind,
  audits.reason, audits.evidence,
  CASE WHEN audits.verdict = 'suspected' AND NOT starts_with(audits.source, 'judge:') THEN rejected_by END
    AS rejected_by
FROM audits
JOIN rollouts ON rollouts.rollout_id = audits.rollout_id
LEFT JOIN rejections
  ON rejections.rollout_id = audits.rollout_id AND rejections.kind = audits.kind
  AND rejections.about = md5(concat(audits.source, chr(10), audits.evidence, chr(10), audits.reason))
WHERE audits.verdict <> 'none' AND trim(coalesce(audits.evidence, '')) NOT IN ('', '[]', '{}')
ORDER BY audits.verdict, audits.task_id, rollouts.run, audits.kind, audits.source;
