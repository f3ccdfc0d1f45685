-- Scores of rollouts that a judge graded more than once: one row per rollout, kind and repeat.
CREATE OR REPLACE VIEW score_repeats AS
SELECT
  rollout_id, task_id, kind, rubric_digest, judge, repeat,
  CASE
    WHEN bool_or(value IS NULL) THEN NULL
    WHEN bool_or(gate AND value < 1) THEN 0.0
    ELSE sum(weight * value ORDER BY criterion_id) / sum(weight ORDER BY criterion_id)
  END AS score
FROM grades
WHERE rollout_id IN (SELECT rollout_id FROM grades WHERE repeat > 0)
GROUP BY rollout_id, task_id, kind, rubric_digest, judge, repeat;
