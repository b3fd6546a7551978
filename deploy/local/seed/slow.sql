-- As shop.sql, with time to be killed in the middle.
CREATE TABLE visits (at timestamptz NOT NULL DEFAULT now());
INSERT INTO visits SELECT now() FROM generate_series(1, 20);
SELECT pg_sleep(10);
INSERT INTO visits SELECT now() FROM generate_series(1, 21);
