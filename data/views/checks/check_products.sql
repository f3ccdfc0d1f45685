-- The product: test * solution * behavior on route grs, the test alone on the others. What is no pass is 0; a pass
-- that lacks a score which is multiplied is masked. A rubric without criteria is no factor.
CREATE OR REPLACE VIEW check_products AS
WITH factors AS (
  SELECT
    check_routes.*,
    CASE WHEN NOT list_contains(factors, 'solution') OR solution_criteria = 0 THEN 1.0 ELSE solution END AS by_solution,
    CASE WHEN NOT list_contains(factors, 'behavior') OR behavior_criteria = 0 THEN 1.0 ELSE behavior END AS by_behavior,
    (list_contains(factors, 'solution') AND solution_criteria IS DISTINCT FROM 0)
      OR (list_contains(factors, 'behavior') AND behavior_criteria IS DISTINCT FROM 0) AS has_score
  FROM check_routes, check_settings
),
products AS (
  SELECT
    *,
    CASE
      WHEN NOT known THEN NULL
      WHEN NOT passes THEN 0.0
      WHEN route = 'grs' THEN by_solution * by_behavior
      ELSE 1.0
    END AS reward_raw
  FROM factors
)
SELECT
  * EXCLUDE (passes),
  CASE WHEN known THEN CAST(outcome = 'passed' AS DOUBLE) END AS test,
  reward_raw IS NOT NULL AS valid,
  passes AND reward_raw IS NOT NULL AS passes,
  CASE WHEN passes AND has_score THEN by_solution * by_behavior END AS score,
  CASE
    WHEN known AND reward_raw IS NULL THEN 'ungraded'
    WHEN outcome IN ('passed', 'failed') THEN 'ok'
    ELSE outcome
  END AS status
FROM products;
