-- The turns that the policy itself wrote (assistant turns that are no demonstrations), of those transcripts in which
-- some turn has a flag: place in the transcript from 0, tokens written, flags.
CREATE OR REPLACE VIEW own_turns AS
WITH parsed AS (
  SELECT
    transcript_digest, task_id,
    from_json(turns, '[{"role": "VARCHAR", "output_tokens": "BIGINT", "flags": ["VARCHAR"]}]') AS turns
  FROM transcripts
  WHERE contains(turns, '"flags":')
),
single AS (
  SELECT transcript_digest, task_id, generate_subscripts(turns, 1) - 1 AS turn, unnest(turns) AS said
  FROM parsed
)
SELECT transcript_digest, task_id, turn, said.output_tokens AS output_tokens, coalesce(said.flags, []) AS flags
FROM single
WHERE said.role = 'assistant' AND NOT coalesce(list_contains(said.flags, 'demonstration'), false);
