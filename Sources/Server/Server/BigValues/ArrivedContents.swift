import FerryConnector
import FerryCrypto
import FerryModel

/// The contents that devices send after their operations, in pieces, until a connector has written
/// them into the business system.
///
/// A content is found by its user and its reference: whoever knows a hash has not its content.
final class ArrivedContents {
  typealias Entry = StoredContent

  private struct Hashing {
    let hasher: SHA256Hasher
    var count: Int64
  }

  private let store: any Store
  /// Of what arrives just now; after a start the stored pieces are hashed again.
  private var hashings: [Int64: Hashing] = [:]
  private static let hashingsLimit = 64

  init(store: any Store) { self.store = store }

  func entry(_ user: String, _ reference: BigReference) throws(StoreError) -> Entry? {
    try store.content(user, reference)
  }

  /// Whether nothing more is to come.
  func hasArrived(_ user: String, _ reference: BigReference) throws(StoreError) -> Bool {
    try entry(user, reference).map { $0.state != .arriving } ?? false
  }

  /// Finds it, or begins it; an empty one is whole at once.
  func begin(_ user: String, _ reference: BigReference) throws(StoreError) -> Entry {
    if let known = try entry(user, reference) { return known }
    return try store.transaction { () throws(StoreError) in
      let made = try store.beginContent(user, reference)
      return reference.sizeBytes == 0 ? try finish(made.id, 0, reference) : made
    }
  }

  /// It will not come any more: whoever waits for it is told so, as of a wrong one.
  func giveUp(_ user: String, _ reference: BigReference) throws(StoreError) {
    try store.transaction { () throws(StoreError) in
      let known = try entry(user, reference)
      let entry = if let known { known } else { try store.beginContent(user, reference) }
      try store.setContent(entry.id, .wrong)
    }
  }

  /// Keeps a piece that begins where the content ends; the last one brings the judgement.
  func append(
    _ bytes: [UInt8], to entry: Entry, of reference: BigReference
  ) throws(StoreError) -> Entry {
    var hashing = try hashing(of: entry)
    let stored = entry.stored + Int64(bytes.count)
    // What the store does not take must not be in the hash either.
    hashings[entry.id] = nil
    return try store.transaction { () throws(StoreError) in
      try store.appendContent(entry.id, at: entry.stored, bytes)
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
  ) throws(StoreError) -> Entry {
    let isRight =
      stored == reference.sizeBytes && hexadecimal(hasher.finish()) == reference.digest
    let state = isRight ? Entry.State.whole : .wrong
    try store.setContent(id, state)
    return Entry(id: id, stored: stored, state: state)
  }

  private func hashing(of entry: Entry) throws(StoreError) -> Hashing {
    if let known = hashings[entry.id], known.count == entry.stored { return known }
    var made = Hashing(hasher: SHA256Hasher(), count: 0)
    while made.count < entry.stored {
      let bytes = try store.contentPiece(entry.id, at: made.count)
      guard !bytes.isEmpty else {
        throw StoreError.damaged("a piece of the content \(entry.id) is missing")
      }
      made.hasher.update(bytes)
      made.count += Int64(bytes.count)
    }
    return made
  }

  /// Bytes that a user's contents take.
  func storedBytes(of user: String) throws(StoreError) -> Int64 {
    try store.contentBytes(of: user)
  }

  func discard(_ user: String, _ reference: BigReference) throws(StoreError) {
    guard let entry = try entry(user, reference) else { return }
    try discard([entry.id])
  }

  private func discard(_ ids: [Int64]) throws(StoreError) {
    try store.discardContents(ids)
    for id in ids { hashings[id] = nil }
  }

  /// Throws away what was not touched for so many days and `isNeeded` by nothing.
  func purge(
    afterDays days: Int64, isNeeded: (String, BigReference) -> Bool
  ) throws(StoreError) {
    let loose = try store.oldContents(days: days).filter { _, user, reference in
      reference.map { !isNeeded(user, $0) } ?? true
    }
    if !loose.isEmpty { try discard(loose.map(\.id)) }
  }

  /// A whole content, for a connector, which reads it on its own thread.
  func connectorContent(_ reference: BigReference, _ entry: Entry) -> ConnectorContent {
    let read = store.contentReader(entry.id)
    return ConnectorContent(reference) { offset, count throws(ConnectorError) in
      Array(try read(offset).prefix(count))
    }
  }
}
