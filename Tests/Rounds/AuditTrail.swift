import FerryStage

/// What was done to the bookings, written down by the business database itself, so that an effect
/// that came twice or came and went is seen all the same.
///
/// Each text that a statement writes is an entry of its own, also where it was there before: a trigger
/// `AFTER UPDATE OF` runs for each column that the statement names.
struct AuditTrail {
  static func make(in database: BusinessDatabase, _ connection: BusinessConnection) throws {
    switch database {
    case .sqlite: try connection.execute(sqlite)
    case .postgreSQL: try connection.execute(postgreSQL)
    }
  }

  private static let sqlite: String = """
    CREATE TABLE audit (
      number INTEGER PRIMARY KEY, kind TEXT NOT NULL, booking INTEGER NOT NULL, text TEXT);
    CREATE TRIGGER AuditInsert AFTER INSERT ON Bookings BEGIN
      INSERT INTO audit (kind, booking, text) VALUES ('insert', NEW.BookingID, NEW.Passenger);
      INSERT INTO audit (kind, booking, text)
      SELECT 'insert', NEW.BookingID, NEW.Note WHERE NEW.Note IS NOT NULL;
    END;
    CREATE TRIGGER AuditPassenger AFTER UPDATE OF Passenger ON Bookings BEGIN
      INSERT INTO audit (kind, booking, text) VALUES ('update', NEW.BookingID, NEW.Passenger);
    END;
    CREATE TRIGGER AuditNote AFTER UPDATE OF Note ON Bookings BEGIN
      INSERT INTO audit (kind, booking, text) VALUES ('update', NEW.BookingID, NEW.Note);
    END;
    CREATE TRIGGER AuditDelete AFTER DELETE ON Bookings BEGIN
      INSERT INTO audit (kind, booking) VALUES ('delete', OLD.BookingID);
    END;
    """

  /// The numbers are given under a lock: an entry is never seen before an earlier one.
  private static let postgreSQL: String = """
    CREATE TABLE audit (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind text NOT NULL,
      booking bigint NOT NULL, text text);
    CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_catalog.pg_advisory_xact_lock(1);
      IF TG_OP = 'DELETE' THEN
        INSERT INTO audit (kind, booking) VALUES ('delete', OLD."BookingID");
      ELSIF TG_OP = 'INSERT' THEN
        INSERT INTO audit (kind, booking, text)
          VALUES ('insert', NEW."BookingID", NEW."Passenger");
        IF NEW."Note" IS NOT NULL THEN
          INSERT INTO audit (kind, booking, text) VALUES ('insert', NEW."BookingID", NEW."Note");
        END IF;
      ELSIF TG_ARGV[0] = 'passenger' THEN
        INSERT INTO audit (kind, booking, text)
          VALUES ('update', NEW."BookingID", NEW."Passenger");
      ELSE
        INSERT INTO audit (kind, booking, text) VALUES ('update', NEW."BookingID", NEW."Note");
      END IF;
      RETURN NULL;
    END
    $$;
    CREATE TRIGGER audit AFTER INSERT OR DELETE ON "Bookings"
      FOR EACH ROW EXECUTE FUNCTION audit();
    CREATE TRIGGER audit_passenger AFTER UPDATE OF "Passenger" ON "Bookings"
      FOR EACH ROW EXECUTE FUNCTION audit('passenger');
    CREATE TRIGGER audit_note AFTER UPDATE OF "Note" ON "Bookings"
      FOR EACH ROW EXECUTE FUNCTION audit('note');
    """

  struct Entry {
    let kind: String
    let booking: Int64
    /// What was written; a delete writes nothing.
    let text: String?
  }

  let connection: BusinessConnection

  func entries(after number: Int64) throws -> [Entry] {
    try connection.texts(
      "SELECT kind, booking, text FROM audit WHERE number > \(number) ORDER BY number"
    ).map { row in
      Entry(kind: row[0] ?? "", booking: row[1].flatMap { Int64($0) } ?? 0, text: row[2])
    }
  }

  func last() throws -> Int64 {
    try connection.integers("SELECT max(number) FROM audit").first?.first ?? 0
  }
}
