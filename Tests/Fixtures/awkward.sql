-- A schema made to be awkward: everything that a business database may hold and that a model may
-- not be able to take. Run it with foreign keys off.

-- A text key, a unique column that is no key, a limit of length.
CREATE TABLE "Kunden" (
  "Kürzel" VARCHAR(8) NOT NULL PRIMARY KEY,
  "Straße & Nr." NVARCHAR(60),
  "e-mail" TEXT NOT NULL UNIQUE,
  "Größe in m²" REAL
);
INSERT INTO "Kunden" VALUES ('ADA', 'Seeweg 1', 'ada@example.org', 1.75), ('BOB', NULL, 'bob@example.org', 2);

-- Refers to a unique column that is no key, and to a column that is neither.
CREATE TABLE "newsletter" (
  id INTEGER PRIMARY KEY,
  "to" TEXT NOT NULL REFERENCES "Kunden" ("e-mail"),
  street TEXT REFERENCES "Kunden" ("Straße & Nr."),
  orphan INTEGER REFERENCES "Nowhere" (id),
  sent TIMESTAMP
);
INSERT INTO "newsletter" VALUES (1, 'ada@example.org', NULL, NULL, '2024-02-29T08:15:00');

-- Without a row number, a key of two columns, a self reference of two columns.
CREATE TABLE "part list" (
  "part no" TEXT NOT NULL,
  "rev." INTEGER NOT NULL,
  "parent part" TEXT,
  "parent rev" INTEGER,
  weight DECIMAL(10, 3) CHECK (weight > 0),
  PRIMARY KEY ("part no", "rev."),
  FOREIGN KEY ("parent part", "parent rev") REFERENCES "part list" ("part no", "rev.")
) WITHOUT ROWID;
INSERT INTO "part list" VALUES ('A', 1, NULL, NULL, 12.5), ('B', 1, 'A', 1, 0.125);

-- The key's columns named in another order, a key that refers to a key.
CREATE TABLE "part-stock" (
  rev INTEGER NOT NULL,
  part TEXT NOT NULL,
  shelf CHAR(3) NOT NULL,
  amount INT NOT NULL DEFAULT 0 CHECK (amount >= 0),
  PRIMARY KEY (part, rev, shelf),
  FOREIGN KEY (rev, part) REFERENCES "part list" ("rev.", "part no")
);
INSERT INTO "part-stock" VALUES (1, 'A', 'N12', 4);

-- A self reference of one column; two references to one table.
CREATE TABLE employees (
  employee_id INTEGER PRIMARY KEY,
  boss_id INTEGER REFERENCES employees,
  deputy_id INTEGER REFERENCES employees (employee_id),
  EMAIL_ADDRESS TEXT,
  URL TEXT,
  XMLData TEXT,
  hired DATE,
  shift TIME,
  is_active BOOLEAN NOT NULL DEFAULT 1
);
INSERT INTO employees VALUES
  (1, NULL, NULL, 'a@example.org', NULL, '<a/>', '2020-01-31', '08:30', 1),
  (2, 1, 1, NULL, 'https://example.org', NULL, '2021-02-28', '09:00:30', 0);

-- Swift keywords, members that every generated type has, names that differ only after mending.
CREATE TABLE "class" (
  "id" INTEGER PRIMARY KEY,
  "default" TEXT,
  "func" INTEGER,
  "in" TEXT,
  "self" TEXT,
  "description" TEXT,
  "record" TEXT,
  "a b" TEXT,
  "a_b" TEXT,
  "a-b" TEXT
);
-- Names that were reserved once and need not be, and some that objects really have.
CREATE TABLE "names" (
  "database" TEXT NOT NULL PRIMARY KEY,
  "id" INTEGER,
  "description" TEXT,
  "hash" TEXT,
  "pending" TEXT,
  "entity" TEXT,
  "count" INTEGER NOT NULL,
  "find" TEXT,
  "load" REAL,
  "query" TEXT,
  "changes" INTEGER,
  "matches" TEXT,
  "paths" TEXT,
  "skip" TEXT,
  "take" TEXT,
  "key" TEXT,
  "value" TEXT,
  "name" TEXT,
  "self_" TEXT,
  "live" TEXT,
  "save" TEXT,
  "hashvalue" TEXT,
  "hashValue_" TEXT,
  "logRecords" TEXT,
  "replayOutcome" TEXT
);
INSERT INTO "names" ("database", "count") VALUES ('db', 1);
CREATE TABLE "Type" ("Protocol" TEXT NOT NULL PRIMARY KEY);
CREATE TABLE "String" ("Int64" TEXT NOT NULL PRIMARY KEY);
CREATE TABLE "order lines" (n INTEGER PRIMARY KEY);
CREATE TABLE "OrderLines" (n INTEGER PRIMARY KEY);

-- Quotes, emoji, blanks and digits in names.
CREATE TABLE "🍎🍏" ("🔑" INTEGER PRIMARY KEY, "it's ""so""" TEXT, "[brackets]" TEXT, "2nd" TEXT, " " TEXT);
INSERT INTO "🍎🍏" VALUES (1, 'x', 'y', 'z', 'w');
CREATE TABLE "42 answers" ("back\slash" TEXT NOT NULL PRIMARY KEY, "100%" REAL);

-- Values that contradict their declared type.
CREATE TABLE liars (
  liar_id INTEGER PRIMARY KEY,
  text_in_integer INTEGER,
  real_in_integer INTEGER,
  huge_real_in_integer INTEGER,
  text_in_boolean BOOLEAN,
  number_in_boolean BOOLEAN,
  text_in_decimal NUMERIC,
  blob_in_text TEXT,
  blob_and_text TEXT,
  too_long VARCHAR(3),
  text_in_blob BLOB,
  no_type,
  odd_type WIBBLE,
  day DATE,
  moment DATETIME,
  seconds DATETIME,
  mixed_moment DATETIME,
  half_moment DATETIME
);
INSERT INTO liars VALUES
  (1, 'many', 1.5, 1e300, 'yes', 2, 'n/a', x'00ff', x'00', 'abcd', 'plain', 1, 'w', '2024-01-31',
    '2024-01-31 10:00:00.250', 1706695200, '2024-01-31', '2024-01-31 10:00'),
  (2, 3, 2, 1, 1, 1, 4.5, NULL, 'text', 'ab', 'text', 2, 'x', '2024-02-29 00:00:00',
    '2024-01-31 10:00:00', 0, '31.1.2024', NULL);

-- Generated columns, triggers, views.
CREATE TABLE invoices (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  customer_id VARCHAR(8) NOT NULL REFERENCES "Kunden",
  net NUMERIC NOT NULL DEFAULT 0,
  gross NUMERIC GENERATED ALWAYS AS (net * 1.19) VIRTUAL,
  gross_stored NUMERIC AS (net * 1.19) STORED,
  changed TEXT
);
CREATE TRIGGER invoices_changed AFTER UPDATE ON invoices BEGIN
  UPDATE invoices SET changed = 'yes' WHERE number = NEW.number;
END;
CREATE TRIGGER invoices_kept BEFORE DELETE ON invoices BEGIN
  SELECT RAISE(ABORT, 'invoices are kept');
END;
INSERT INTO invoices (customer_id, net) VALUES ('ADA', 10);
CREATE VIEW "open invoices" AS SELECT number FROM invoices;

-- No key, a key with a null, a key that is a generated column, a key that lies.
CREATE TABLE log (at TEXT, what TEXT);
CREATE TABLE null_key (code TEXT PRIMARY KEY, what TEXT);
INSERT INTO null_key VALUES (NULL, 'a'), ('x', 'b');
CREATE TABLE maybe_null_key (code TEXT PRIMARY KEY, log_id INTEGER REFERENCES log);
INSERT INTO maybe_null_key VALUES ('~1', 1);
CREATE TABLE negative (n INTEGER PRIMARY KEY, log TEXT REFERENCES null_key (code));
INSERT INTO negative (n) VALUES (-5);
CREATE TABLE deep_negative (n INTEGER PRIMARY KEY);
INSERT INTO deep_negative VALUES (-9000000000000000000);
CREATE TABLE mixed_key (k TEXT NOT NULL PRIMARY KEY);
INSERT INTO mixed_key VALUES ('a'), (x'00');
-- A column that every new row needs cannot be taken.
CREATE TABLE needs_it (n INTEGER PRIMARY KEY, both BLOB NOT NULL);
INSERT INTO needs_it VALUES (1, 'text'), (2, x'00');

-- What Ferry and SQLite keep for themselves is not looked at.
CREATE TABLE ferry_applied (operation TEXT PRIMARY KEY);
CREATE VIRTUAL TABLE search USING fts5 (words);
