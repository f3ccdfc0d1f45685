-- The configuration that the reward table was made by, as one row of values.
CREATE OR REPLACE VIEW check_settings AS
SELECT
  CAST(content->'factors' AS VARCHAR[]) AS factors,
  content->>'routing' AS routing,
  CAST(content->>'grs_from' AS DOUBLE) AS grs_from,
  content->>'estimator' AS estimator,
  CAST(content->>'std_eps' AS DOUBLE) AS std_eps,
  CAST(content->'$.length.measures' AS VARCHAR[]) AS measures,
  CAST(content->>'$.length.penalty' AS DOUBLE) AS penalty,
  CAST(content->>'$.length.quantile' AS DOUBLE) AS share,
  CAST(content->>'$.length.tolerance' AS DOUBLE) AS tolerance,
  CAST(content->>'$.length.saturation' AS DOUBLE) AS saturation,
  CAST(content->>'$.length.exponent' AS DOUBLE) AS exponent,
  CAST(content->>'$.length.gate' AS DOUBLE) AS gate,
  CAST(content->>'$.gar.cap' AS DOUBLE) AS cap,
  CAST(content->>'$.quality.first_best' AS DOUBLE) AS first_best,
  CAST(content->>'$.quality.first_other' AS DOUBLE) AS first_other,
  CAST(content->>'$.quality.second_best' AS DOUBLE) AS second_best,
  CAST(content->>'$.quality.second_worst' AS DOUBLE) AS second_worst,
  CAST(content->>'$.quality.third' AS DOUBLE) AS third,
  CAST(content->'$.tokens.flags' AS VARCHAR[]) AS flags,
  CAST(content->>'$.tokens.kappa' AS DOUBLE) AS kappa,
  CAST(content->>'$.tokens.beta_min' AS DOUBLE) AS beta_min,
  CAST(content->>'$.tokens.alpha_max' AS DOUBLE) AS alpha_max
FROM (SELECT CAST(content AS JSON) AS content FROM reward_configs);
