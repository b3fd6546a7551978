-- 41 visits: the first visitor of the sample's /database is the 42nd.
CREATE TABLE visits (at timestamptz NOT NULL DEFAULT now());
INSERT INTO visits SELECT now() - n * interval '1 minute' FROM generate_series(1, 41) AS n;
