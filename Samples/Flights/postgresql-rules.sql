-- The rules of schema.sql for PostgreSQL, made after the rows of the sample are there.

SELECT pg_catalog.setval(
  pg_catalog.pg_get_serial_sequence('"Bookings"', 'BookingID'),
  (SELECT max("BookingID") FROM "Bookings"));

CREATE FUNCTION booking_rules() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  old_status text;
  flight record;
  given_back integer := 0;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    SELECT "Status" INTO old_status FROM "Flights" WHERE "FlightID" = OLD."FlightID" FOR UPDATE;
  END IF;
  IF TG_OP = 'DELETE' THEN
    IF old_status = 'departed' THEN
      RAISE EXCEPTION 'A booking of a departed flight cannot be deleted';
    END IF;
    RETURN OLD;
  END IF;
  SELECT "Status" AS status, "SeatsLeft" AS seats_left, "Price" AS price INTO flight
    FROM "Flights" WHERE "FlightID" = NEW."FlightID" FOR UPDATE;
  IF TG_OP = 'INSERT' THEN
    IF flight.status <> 'planned' THEN
      RAISE EXCEPTION 'This flight has departed or was cancelled and takes no booking';
    END IF;
    IF NEW."Price" IS NULL THEN NEW."Price" := flight.price * NEW."Seats"; END IF;
  ELSE
    IF old_status <> 'planned' AND (NEW."AgencyID", NEW."FlightID", NEW."Passenger", NEW."Cabin",
      NEW."Seats", NEW."Price", NEW."BookedAt") IS DISTINCT FROM (OLD."AgencyID", OLD."FlightID",
      OLD."Passenger", OLD."Cabin", OLD."Seats", OLD."Price", OLD."BookedAt")
    THEN
      RAISE EXCEPTION 'A booking of a departed or cancelled flight cannot be changed';
    END IF;
    IF NEW."FlightID" = OLD."FlightID" THEN given_back := OLD."Seats"; END IF;
  END IF;
  IF flight.seats_left + given_back < NEW."Seats" THEN
    RAISE EXCEPTION 'This flight has not enough seats left';
  END IF;
  RETURN NEW;
END
$$;

CREATE FUNCTION booking_moves_seats() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    UPDATE "Flights" SET "SeatsLeft" = "SeatsLeft" + OLD."Seats"
      WHERE "FlightID" = OLD."FlightID";
  END IF;
  IF TG_OP <> 'DELETE' THEN
    UPDATE "Flights" SET "SeatsLeft" = "SeatsLeft" - NEW."Seats"
      WHERE "FlightID" = NEW."FlightID";
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER booking_rules BEFORE INSERT OR UPDATE OR DELETE ON "Bookings"
  FOR EACH ROW EXECUTE FUNCTION booking_rules();
CREATE TRIGGER booking_takes_seats AFTER INSERT OR DELETE ON "Bookings"
  FOR EACH ROW EXECUTE FUNCTION booking_moves_seats();
CREATE TRIGGER booking_moves_seats AFTER UPDATE OF "FlightID", "Seats" ON "Bookings"
  FOR EACH ROW EXECUTE FUNCTION booking_moves_seats();
