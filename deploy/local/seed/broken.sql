-- Fails after most of it was loaded.
CREATE TABLE visits (at timestamptz NOT NULL DEFAULT now());
INSERT INTO visits SELECT now() FROM generate_series(1, 41);
INSERT INTO customers VALUES ('the first');
