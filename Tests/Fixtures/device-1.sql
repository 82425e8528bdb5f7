-- A device's database as version 1 of its tables made it, with three changes that wait.
CREATE TABLE "Order" (
  _id INTEGER PRIMARY KEY AUTOINCREMENT, "id" INTEGER, "customer" TEXT, "city" TEXT,
  "freight" TEXT, _partition INTEGER, _hash INTEGER,
  _pending TEXT NOT NULL DEFAULT 'N', _failed INTEGER NOT NULL DEFAULT 0, UNIQUE ("id"));
CREATE TABLE "ferry_original_Order" (
  _id INTEGER PRIMARY KEY, "id" INTEGER, "customer" TEXT, "city" TEXT, "freight" TEXT,
  _partition INTEGER, _hash INTEGER, UNIQUE ("id"));
CREATE TABLE "Line" (
  _id INTEGER PRIMARY KEY AUTOINCREMENT, "orderID" INTEGER, "number" INTEGER, "text" TEXT,
  _partition INTEGER, _hash INTEGER, _pending TEXT NOT NULL DEFAULT 'N',
  _failed INTEGER NOT NULL DEFAULT 0, UNIQUE ("orderID", "number"));
CREATE TABLE "ferry_original_Line" (
  _id INTEGER PRIMARY KEY, "orderID" INTEGER, "number" INTEGER, "text" TEXT,
  _partition INTEGER, _hash INTEGER, UNIQUE ("orderID", "number"));
CREATE TABLE ferry_operation (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, entity TEXT NOT NULL,
  object INTEGER NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, temporary INTEGER NOT NULL,
  changed TEXT NOT NULL, base TEXT NOT NULL, chain TEXT NOT NULL, state TEXT NOT NULL,
  wanted INTEGER NOT NULL DEFAULT 0, payload BLOB, sent INTEGER NOT NULL DEFAULT 0,
  acknowledged INTEGER NOT NULL DEFAULT 0,
  may_have_run INTEGER NOT NULL DEFAULT 0, made INTEGER NOT NULL);
CREATE INDEX ferry_operation_object ON ferry_operation (entity, object, sequence);
CREATE TABLE ferry_page (
  number INTEGER PRIMARY KEY AUTOINCREMENT, partition INTEGER NOT NULL, bytes BLOB NOT NULL);
CREATE TABLE ferry_partition (
  number INTEGER PRIMARY KEY, grp TEXT NOT NULL, state TEXT NOT NULL,
  version INTEGER NOT NULL, row INTEGER NOT NULL,
  staged_version INTEGER NOT NULL, staged_row INTEGER NOT NULL,
  sum INTEGER NOT NULL DEFAULT 0, count INTEGER NOT NULL DEFAULT 0,
  repaired_day INTEGER NOT NULL DEFAULT -1);
CREATE TABLE ferry_checkpoint (
  grp TEXT PRIMARY KEY, era TEXT, version INTEGER NOT NULL DEFAULT 0, staged_era TEXT,
  staged_at INTEGER NOT NULL DEFAULT 0, imported INTEGER);
CREATE TABLE ferry_alias (
  entity TEXT NOT NULL, old_key TEXT NOT NULL, object INTEGER NOT NULL,
  PRIMARY KEY (entity, old_key));
CREATE TABLE ferry_log_record (
  number INTEGER PRIMARY KEY AUTOINCREMENT, entity TEXT NOT NULL, object INTEGER NOT NULL,
  record TEXT NOT NULL);
CREATE INDEX ferry_log_record_object ON ferry_log_record (entity, object);
CREATE TABLE ferry_notice (
  number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, entity TEXT, object INTEGER,
  key TEXT, content TEXT);
CREATE TABLE ferry_setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO ferry_setting VALUES ('package', 'Shop:1.0'),
  ('device', 'd0d1d2d3d4d5d6d7d8d9dadbdcdddedf'),
  ('incarnation', 'e0e1e2e3e4e5e6e7e8e9eaebecedeeef');
INSERT INTO "Order" (_id, id, customer, city, freight, _partition, _hash, _pending, _failed) VALUES
  (1, 1, 'ALFKI', 'Kiel', '1.5', NULL, NULL, 'U', 0),
  (2, 2, 'ALFKI', 'Bremen', '1.5', 1, 22, 'N', 0),
  (3, 3, 'ALFKI', 'Ulm', '1.5', NULL, NULL, 'U', 1),
  (4, -9223372036854775000, 'ALFKI', 'Jena', NULL, NULL, NULL, 'C', 0);
INSERT INTO "ferry_original_Order" (_id, id, customer, city, freight, _partition, _hash) VALUES
  (1, 1, 'ALFKI', 'Bremen', '1.5', 1, 11), (3, 3, 'ALFKI', 'Bremen', '1.5', 1, 33);
INSERT INTO ferry_operation
  (id, entity, object, kind, key, temporary, changed, base, chain, state, made, sent) VALUES
  ('00000000000000000000000000000002', 'Order', 1, 'update', '1', 0, '{"city":"Kiel"}', '{"city":"Bremen"}', '00000000000000000000000000000002', 'submitted',
   2000, 1),
  ('00000000000000000000000000000003', 'Order', 4, 'create', '-9223372036854775000', 1,
   '{"customer":"ALFKI","city":"Jena"}', '{}', '00000000000000000000000000000003', 'waiting', 3000, 0),
  ('00000000000000000000000000000004', 'Order', 3, 'update', '3', 0, '{"city":"Ulm"}', '{"city":"Bremen"}', '00000000000000000000000000000004',
   'replayFailed', 4000, 0);
PRAGMA user_version = 1;
