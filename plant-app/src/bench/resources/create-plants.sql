\set id random(1, 9000000000000000000)
INSERT INTO plant (id, name, tag) VALUES (:id, 'Monstera deliciosa', 'tropical') ON CONFLICT (id) DO NOTHING;
