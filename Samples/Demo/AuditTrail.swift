import FerrySQLite

/// What was done to the bookings, written down by the business database itself, so that an effect
/// that came twice or came and went is seen all the same.
///
/// Each text that a statement writes is an entry of its own, also where it was there before: SQLite
/// runs a trigger `AFTER UPDATE OF` for each column that the statement names.
struct AuditTrail {
  static let tables: String = """
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

  struct Entry {
    let kind: String
    let booking: Int64
    /// What was written; a delete writes nothing.
    let text: String?
  }

  let connection: Connection

  func entries(after number: Int64) throws -> [Entry] {
    try connection.rows(
      "SELECT kind, booking, text FROM audit WHERE number > ? ORDER BY number", [.integer(number)]
    ).map { row in
      Entry(kind: row[0].text ?? "", booking: row[1].integer ?? 0, text: row[2].text)
    }
  }

  func last() throws -> Int64 {
    try connection.value("SELECT max(number) FROM audit")?.integer ?? 0
  }
}
