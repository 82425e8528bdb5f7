-- A few rows of our own in the shape of the sample database Sakila: lower-case names, a circle of
-- foreign keys, a trigger that writes, a view, and a unique index beside the key.
CREATE TABLE country (
  country_id SMALLINT NOT NULL PRIMARY KEY, country VARCHAR(50) NOT NULL, last_update TIMESTAMP);
CREATE TABLE city (
  city_id INT NOT NULL PRIMARY KEY, city VARCHAR(50) NOT NULL,
  country_id SMALLINT NOT NULL REFERENCES country (country_id), last_update TIMESTAMP NOT NULL);
CREATE TABLE address (
  address_id INT NOT NULL PRIMARY KEY, address VARCHAR(50) NOT NULL,
  city_id INT NOT NULL REFERENCES city (city_id), phone VARCHAR(20) NOT NULL,
  last_update TIMESTAMP NOT NULL);
CREATE TABLE store (
  store_id INT NOT NULL PRIMARY KEY, manager_staff_id SMALLINT NOT NULL REFERENCES staff (staff_id),
  address_id INT NOT NULL REFERENCES address (address_id), last_update TIMESTAMP NOT NULL);
CREATE TABLE staff (
  staff_id SMALLINT NOT NULL PRIMARY KEY, first_name VARCHAR(45) NOT NULL,
  store_id INT NOT NULL REFERENCES store (store_id), active SMALLINT DEFAULT 1 NOT NULL,
  last_update TIMESTAMP NOT NULL);
CREATE TABLE customer (
  customer_id INTEGER PRIMARY KEY, store_id INT NOT NULL REFERENCES store (store_id),
  first_name VARCHAR(45) NOT NULL, last_name VARCHAR(45) NOT NULL, email VARCHAR(50),
  address_id INT NOT NULL REFERENCES address (address_id), active CHAR(1) DEFAULT 'Y' NOT NULL,
  create_date TIMESTAMP NOT NULL, last_update TIMESTAMP NOT NULL);
CREATE TABLE film (
  film_id INTEGER PRIMARY KEY, title VARCHAR(255) NOT NULL, release_year VARCHAR(4),
  rental_rate DECIMAL(4,2) DEFAULT 4.99 NOT NULL, rating VARCHAR(10) DEFAULT 'G',
  last_update TIMESTAMP NOT NULL,
  CONSTRAINT CHECK_rating CHECK (rating IN ('G', 'PG', 'PG-13', 'R', 'NC-17')));
CREATE TABLE actor (
  actor_id INTEGER PRIMARY KEY, first_name VARCHAR(45) NOT NULL, last_name VARCHAR(45) NOT NULL,
  last_update TIMESTAMP NOT NULL);
CREATE TABLE film_actor (
  actor_id INT NOT NULL REFERENCES actor (actor_id), film_id INT NOT NULL REFERENCES film (film_id),
  last_update TIMESTAMP NOT NULL, PRIMARY KEY (actor_id, film_id));
CREATE TABLE inventory (
  inventory_id INTEGER PRIMARY KEY, film_id INT NOT NULL REFERENCES film (film_id),
  store_id INT NOT NULL REFERENCES store (store_id), last_update TIMESTAMP NOT NULL);
CREATE TABLE rental (
  rental_id INTEGER PRIMARY KEY, rental_date TIMESTAMP NOT NULL,
  inventory_id INT NOT NULL REFERENCES inventory (inventory_id),
  customer_id INT NOT NULL REFERENCES customer (customer_id), return_date TIMESTAMP,
  staff_id SMALLINT NOT NULL REFERENCES staff (staff_id), last_update TIMESTAMP NOT NULL);
CREATE UNIQUE INDEX idx_rental_uq ON rental (rental_date, inventory_id, customer_id);
CREATE TABLE payment (
  payment_id INTEGER PRIMARY KEY, customer_id INT NOT NULL REFERENCES customer (customer_id),
  rental_id INT REFERENCES rental (rental_id), amount DECIMAL(5,2) NOT NULL,
  payment_date TIMESTAMP NOT NULL);
CREATE VIEW customer_list AS
  SELECT customer_id AS id, first_name || ' ' || last_name AS name, store_id AS sid FROM customer;
CREATE TRIGGER rental_trigger_au AFTER UPDATE OF return_date ON rental
BEGIN UPDATE rental SET last_update = '2026-01-02 03:04:05' WHERE rowid = new.rowid; END;
INSERT INTO country VALUES (1, 'Norway', '2024-01-01 00:00:00');
INSERT INTO city VALUES (1, 'Oslo', 1, '2024-01-01 00:00:00'), (2, 'Bergen', 1, '2024-01-01 00:00:00');
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
INSERT INTO address SELECT i, i || ' Main Street', 1 + i % 2, '555-' || i, '2024-01-01 00:00:00' FROM n;
INSERT INTO store VALUES (1, 1, 1, '2024-01-01 00:00:00'), (2, 2, 2, '2024-01-01 00:00:00');
INSERT INTO staff VALUES (1, 'Mia', 1, 1, '2024-01-01 00:00:00'), (2, 'Jon', 2, 1, '2024-01-01 00:00:00');
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
INSERT INTO customer SELECT i, 1 + i % 2, 'First ' || i, 'Last ' || i, NULL, i, 'Y',
  '2024-01-01 00:00:00', '2024-01-01 00:00:00' FROM n;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
INSERT INTO film SELECT i, 'Film ' || i, '2006', 2.99, 'PG', '2024-01-01 00:00:00' FROM n;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
INSERT INTO actor SELECT i, 'First ' || i, 'Last ' || i, '2024-01-01 00:00:00' FROM n;
INSERT INTO film_actor SELECT 1 + film_id % 20, film_id, '2024-01-01 00:00:00' FROM film;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90)
INSERT INTO inventory SELECT i, 1 + i % 50, 1 + i % 2, '2024-01-01 00:00:00' FROM n;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150)
INSERT INTO rental SELECT i, '2025-05-24 22:53:' || substr('0' || (i % 60), -2), 1 + i % 90, 1 + i % 30,
  NULL, 1 + i % 2, '2024-01-01 00:00:00' FROM n;
INSERT INTO payment SELECT rental_id, customer_id, rental_id, 2.99, '2025-05-25 11:30:37' FROM rental;
