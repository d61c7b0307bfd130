CREATE TABLE plant (
  id bigint PRIMARY KEY,
  name text NOT NULL,
  tag text
);
