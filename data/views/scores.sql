-- The score of each rollout under each rubric (design section 3): sum(weight * value) / sum(weight), each value the
-- median over a judge's repeats. Any unknown value makes the score null, one of a repeat or of a criterion without a row
-- too; a gate below 1 makes it 0.
CREATE OR REPLACE VIEW scores AS
WITH verdicts AS (
  SELECT
    rollout_id, task_id, kind, rubric_digest, judge, criterion_id,
    any_value(weight) AS weight,
    bool_or(gate) AS gate,
    CASE WHEN count(value) = count(*) THEN median(value) END AS value,
    min(failure_class) FILTER (WHERE value IS NULL) AS failure_class
  FROM grades
  GROUP BY rollout_id, task_id, kind, rubric_digest, judge, criterion_id
)
SELECT
  rollout_id, verdicts.task_id, verdicts.kind, rubric_digest, judge,
  CASE
    WHEN bool_or(value IS NULL) OR count(*) < any_value(n_criteria) THEN NULL
    WHEN bool_or(gate AND value < 1) THEN 0.0
    ELSE sum(weight * value ORDER BY criterion_id) / sum(weight ORDER BY criterion_id)
  END AS score,
  coalesce(
    min(failure_class) FILTER (WHERE value IS NULL), CASE WHEN count(*) < any_value(n_criteria) THEN 'no_verdict' END
  ) AS failure_class,
  count(*) AS criteria
FROM verdicts
LEFT JOIN rubrics USING (rubric_digest)
GROUP BY rollout_id, verdicts.task_id, verdicts.kind, rubric_digest, judge;
