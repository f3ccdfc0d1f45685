-- What the reward engine reads of each rollout: its outcome, its two scores, what its audits came to (null: not
-- audited), and what its task's rubrics are. One row per rollout and judge (`for_judge`; null where nobody judged).
CREATE OR REPLACE VIEW reward_inputs AS
WITH in_force AS (
  SELECT
    task_id,
    max(rubric_digest) FILTER (WHERE kind = 'solution') AS solution_rubric,
    max(rubric_digest) FILTER (WHERE kind = 'behavior') AS behavior_rubric,
    max(n_criteria) FILTER (WHERE kind = 'solution') AS solution_criteria,
    max(n_criteria) FILTER (WHERE kind = 'behavior') AS behavior_criteria,
    max(study_digest) AS study_digest
  FROM rubrics
  GROUP BY task_id
),
judges AS (
  SELECT DISTINCT judge AS for_judge FROM grades WHERE rubric_digest IN (SELECT rubric_digest FROM rubrics)
)
SELECT
  rollouts.* EXCLUDE (patch),
  chosen_outcomes.outcome, chosen_outcomes.detail, chosen_outcomes.rung,
  solution_rubric, solution_criteria, solution.score AS solution, solution.failure_class AS solution_failure,
  behavior_rubric, behavior_criteria, behavior.score AS behavior, behavior.failure_class AS behavior_failure,
  for_judge, coalesce(solution.judge, behavior.judge) AS judge,
  audit_verdicts.hack,
  studies.rollout_id IS NOT NULL AS studied,
  tasks.task_id IS NOT NULL AS has_task
FROM rollouts
LEFT JOIN judges ON true
JOIN chosen_outcomes USING (rollout_id)
LEFT JOIN in_force ON in_force.task_id = rollouts.task_id
LEFT JOIN scores AS solution
  ON solution.rollout_id = rollouts.rollout_id AND solution.rubric_digest = solution_rubric AND solution.judge = for_judge
LEFT JOIN scores AS behavior
  ON behavior.rollout_id = rollouts.rollout_id AND behavior.rubric_digest = behavior_rubric AND behavior.judge = for_judge
LEFT JOIN audit_verdicts ON audit_verdicts.rollout_id = rollouts.rollout_id
LEFT JOIN studies ON studies.rollout_id = rollouts.rollout_id AND studies.study_digest = in_force.study_digest
LEFT JOIN tasks ON tasks.task_id = rollouts.task_id;
