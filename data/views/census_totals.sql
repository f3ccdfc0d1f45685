-- The closing account: every rollout ends in exactly one status; everything left out or doubted is counted.
CREATE OR REPLACE VIEW census_totals AS
SELECT stage, subject, kind, sum("count")::BIGINT AS n, split_part(any_value(detail), '; e.g. ', 1) AS example
FROM census
GROUP BY stage, subject, kind
UNION ALL
SELECT 'reward', 'rollout', status, count(*), 'rollouts with this status'
FROM rewards
GROUP BY status
ORDER BY stage, subject, kind;
