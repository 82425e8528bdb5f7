import FerrySQLite

/// What was done to the bookings, written down by the business database itself, so that an effect
/// that came twice or came and went is seen all the same.
struct AuditTrail {
  static let tables: String = """
    CREATE TABLE audit (
      number INTEGER PRIMARY KEY, kind TEXT NOT NULL, booking INTEGER NOT NULL,
      passenger TEXT, note TEXT);
    CREATE TRIGGER AuditInsert AFTER INSERT ON Bookings BEGIN
      INSERT INTO audit (kind, booking, passenger, note)
      VALUES ('insert', NEW.BookingID, NEW.Passenger, NEW.Note);
    END;
    CREATE TRIGGER AuditUpdate AFTER UPDATE OF Passenger, Note ON Bookings BEGIN
      INSERT INTO audit (kind, booking, passenger, note)
      VALUES (
        'update', NEW.BookingID, nullif(NEW.Passenger, OLD.Passenger),
        CASE WHEN NEW.Note IS OLD.Note THEN NULL ELSE NEW.Note END);
    END;
    CREATE TRIGGER AuditDelete AFTER DELETE ON Bookings BEGIN
      INSERT INTO audit (kind, booking) VALUES ('delete', OLD.BookingID);
    END;
    """

  struct Entry {
    let kind: String
    let booking: Int64
    let texts: [String]
  }

  let connection: Connection

  func entries(after number: Int64) throws -> [Entry] {
    try connection.rows(
      "SELECT kind, booking, passenger, note FROM audit WHERE number > ? ORDER BY number",
      [.integer(number)]
    ).map { row in
      Entry(
        kind: row[0].text ?? "", booking: row[1].integer ?? 0,
        texts: [row[2].text, row[3].text].compactMap { $0 })
    }
  }

  func last() throws -> Int64 {
    try connection.value("SELECT max(number) FROM audit")?.integer ?? 0
  }
}
