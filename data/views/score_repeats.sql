-- Scores of rollouts that a judge graded more than once: one row per rollout, kind and repeat. Null as in `scores`.
CREATE OR REPLACE VIEW score_repeats AS
SELECT
  rollout_id, grades.task_id, grades.kind, rubric_digest, judge, repeat,
  CASE
    WHEN bool_or(value IS NULL) OR count(*) < any_value(n_criteria) THEN NULL
    WHEN bool_or(gate AND value < 1) THEN 0.0
    ELSE sum(weight * value ORDER BY criterion_id) / sum(weight ORDER BY criterion_id)
  END AS score
FROM grades
LEFT JOIN rubrics USING (rubric_digest)
WHERE (rollout_id, judge) IN (SELECT (rollout_id, judge) FROM grades WHERE repeat > 0)
GROUP BY rollout_id, grades.task_id, grades.kind, rubric_digest, judge, repeat;
