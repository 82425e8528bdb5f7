import FerryCrypto
import FerryModel
import FerrySQLite

/// The contents that devices send after their operations, in pieces, until a connector has written
/// them into the business system.
///
/// A content is found by its user and its reference: whoever knows a hash has not its content.
final class ArrivedContents {
  /// A content as far as it has come.
  struct Entry: Equatable {
    enum State: String {
      case arriving
      /// All is there, and is what the reference says.
      case whole
      /// All is there, and is something else; or it will not come any more.
      case wrong
    }

    let id: Int64
    let stored: Int64
    let state: State
  }

  private struct Hashing {
    let hasher: SHA256Hasher
    var count: Int64
  }

  private let store: Store
  /// Of what arrives just now; after a start the stored pieces are hashed again.
  private var hashings: [Int64: Hashing] = [:]
  private static let hashingsLimit = 64

  init(store: Store) { self.store = store }

  func entry(_ user: String, _ reference: BigReference) throws(SQLiteError) -> Entry? {
    let row = try store.writer.row(
      "SELECT id, stored, state FROM content WHERE package = ? AND user = ? AND reference = ?",
      .integer(store.packageNumber), .text(user), .text(reference.description))
    guard let row, let id = row[0].integer, let stored = row[1].integer,
      let state = row[2].text.flatMap(Entry.State.init(rawValue:))
    else { return nil }
    return Entry(id: id, stored: stored, state: state)
  }

  /// Whether nothing more is to come.
  func hasArrived(_ user: String, _ reference: BigReference) throws(SQLiteError) -> Bool {
    try entry(user, reference).map { $0.state != .arriving } ?? false
  }

  /// Finds it, or begins it; an empty one is whole at once.
  func begin(_ user: String, _ reference: BigReference) throws(SQLiteError) -> Entry {
    if let known = try entry(user, reference) { return known }
    return try store.writer.transaction { () throws(SQLiteError) in
      let made = try insert(user, reference)
      return reference.sizeBytes == 0 ? try finish(made.id, 0, reference) : made
    }
  }

  private func insert(_ user: String, _ reference: BigReference) throws(SQLiteError) -> Entry {
    try store.writer.run(
      """
      INSERT INTO content (package, user, reference, stored, state, day)
      SELECT ?, ?, ?, 0, 'arriving', days FROM server
      """, .integer(store.packageNumber), .text(user), .text(reference.description))
    return Entry(id: store.writer.lastInsertRowID, stored: 0, state: .arriving)
  }

  /// It will not come any more: whoever waits for it is told so, as of a wrong one.
  func giveUp(_ user: String, _ reference: BigReference) throws(SQLiteError) {
    try store.writer.transaction { () throws(SQLiteError) in
      let known = try entry(user, reference)
      let entry = if let known { known } else { try insert(user, reference) }
      try store.writer.run(
        "UPDATE content SET state = ? WHERE id = ?", .text(Entry.State.wrong.rawValue),
        .integer(entry.id))
    }
  }

  /// Keeps a piece that begins where the content ends; the last one brings the judgement.
  func append(
    _ bytes: [UInt8], to entry: Entry, of reference: BigReference
  ) throws(SQLiteError) -> Entry {
    var hashing = try hashing(of: entry)
    let stored = entry.stored + Int64(bytes.count)
    // What the store does not take must not be in the hash either.
    hashings[entry.id] = nil
    return try store.writer.transaction { () throws(SQLiteError) in
      try store.writer.run(
        "INSERT INTO content_piece (content, start, bytes) VALUES (?, ?, ?)", .integer(entry.id),
        .integer(entry.stored), .blob(bytes))
      try store.writer.run(
        "UPDATE content SET stored = ?, day = (SELECT days FROM server) WHERE id = ?",
        .integer(stored), .integer(entry.id))
      hashing.hasher.update(bytes)
      hashing.count = stored
      if stored < reference.sizeBytes {
        if hashings.count >= ArrivedContents.hashingsLimit { hashings = [:] }
        hashings[entry.id] = hashing
        return Entry(id: entry.id, stored: stored, state: .arriving)
      }
      return try finish(entry.id, stored, reference, hashing.hasher)
    }
  }

  private func finish(
    _ id: Int64, _ stored: Int64, _ reference: BigReference,
    _ hasher: SHA256Hasher = SHA256Hasher()
  ) throws(SQLiteError) -> Entry {
    let isRight =
      stored == reference.sizeBytes && hexadecimal(hasher.finish()) == reference.digest
    let state = isRight ? Entry.State.whole : .wrong
    try store.writer.run(
      "UPDATE content SET state = ? WHERE id = ?", .text(state.rawValue), .integer(id))
    return Entry(id: id, stored: stored, state: state)
  }

  private func hashing(of entry: Entry) throws(SQLiteError) -> Hashing {
    if let known = hashings[entry.id], known.count == entry.stored { return known }
    var made = Hashing(hasher: SHA256Hasher(), count: 0)
    while made.count < entry.stored {
      let bytes = try ContentFile.piece(entry.id, at: made.count, store.writer)
      guard !bytes.isEmpty else {
        throw SQLiteError.damaged("a piece of the content \(entry.id) is missing")
      }
      made.hasher.update(bytes)
      made.count += Int64(bytes.count)
    }
    return made
  }

  /// Bytes that a user's contents take.
  func storedBytes(of user: String) throws(SQLiteError) -> Int64 {
    try store.writer.value(
      "SELECT sum(stored) FROM content WHERE package = ? AND user = ?",
      .integer(store.packageNumber), .text(user))?.integer ?? 0
  }

  func discard(_ user: String, _ reference: BigReference) throws(SQLiteError) {
    guard let entry = try entry(user, reference) else { return }
    try discard([entry.id])
  }

  private func discard(_ ids: [Int64]) throws(SQLiteError) {
    try store.writer.transaction { () throws(SQLiteError) in
      for id in ids {
        try store.writer.run("DELETE FROM content WHERE id = ?", .integer(id))
        try store.writer.run("DELETE FROM content_piece WHERE content = ?", .integer(id))
        hashings[id] = nil
      }
    }
  }

  /// Throws away what was not touched for so many days and `isNeeded` by nothing.
  func purge(
    afterDays days: Int64, isNeeded: (String, BigReference) -> Bool
  ) throws(SQLiteError) {
    let old = try store.writer.rows(
      """
      SELECT id, user, reference FROM content
      WHERE package = ? AND day < (SELECT days FROM server) - ?
      """, .integer(store.packageNumber), .integer(days))
    let loose = old.compactMap { row -> Int64? in
      guard let user = row[1].text, let reference = row[2].text.flatMap(BigReference.init) else {
        return row[0].integer
      }
      return isNeeded(user, reference) ? nil : row[0].integer
    }
    try discard(loose)
  }
}
