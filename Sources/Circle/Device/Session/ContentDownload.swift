import FerryCrypto
import FerryHTTP
import FerryModel
import FerrySQLite
import FerryWire

/// A content on its way to the device, decided apart from who carries it: it is asked for its next
/// step and told what came, so a simulation drives the very same download.
///
/// What was there when a line broke is not asked for again. Not for two threads at one time.
package struct ContentDownload {
  package enum Step {
    /// Nothing is to be had, or all is here.
    case done
    case send(ContentRequest)
    /// Another login, or another row, is needed first: an exchange brings both.
    case synchronize
  }

  /// How what was asked for last ended, if not well.
  private enum Setback {
    case stale(FerryError)
    case broken(FerryError)
  }

  /// An answer as far as it has come.
  private struct Reception {
    let key: ObjectKey
    let reference: BigReference
    let number: Int64
    let begun: Int64
    var stored: Int64
    var status = 0
    /// Less than a piece; of another answer than a content, what it says.
    var rest: [UInt8] = []
    var setback: Setback?
    /// Somebody else keeps the same content, or nobody wants it any more.
    var isOvertaken = false
  }

  /// How often the row is brought up to date for one download.
  private static let freshRows = 3
  private static let answerBytes = 65_536

  private let session: Session
  private let contents: Contents
  private let place: ContentPlace
  private var reception: Reception?
  private var hashing: (number: Int64, count: Int64, hasher: SHA256Hasher)?
  private var stale: FerryError?
  private var staleRows = 0
  /// The app was told that it begins, or goes on.
  private var isBeginTold = false

  package init(_ session: Session, _ place: ContentPlace) {
    self.session = session
    self.place = place
    contents = Contents(session.store)
  }

  private var store: Store { session.store }

  /// What is to be done now. Errors: `objectNotFound` where the object is gone; `notDownloaded`
  /// where the row is brought up to date in vain; the store's.
  package mutating func next() throws(FerryError) -> Step {
    guard let (key, reference) = try wanted() else { return .done }
    if let error = stale {
      guard staleRows < ContentDownload.freshRows else { throw missing(error) }
      stale = nil
      return .synchronize
    }
    let entry = try contents.beginDownload(reference)
    guard !entry.isWhole else { return .done }
    return .send(try request(key, reference, entry))
  }

  /// The request is made.
  package mutating func begin(_ request: ContentRequest) {
    reception = Reception(
      key: request.key, reference: request.reference, number: request.entry.number,
      begun: request.entry.storedBytes, stored: request.entry.storedBytes)
    guard let reception, !isBeginTold else { return }
    isBeginTold = true
    session.tell(progress(of: reception))
  }

  private func progress(of current: Reception) -> BigValueProgress {
    BigValueProgress(
      direction: .download, entity: place.entity.name, key: current.key,
      surrogateKey: place.object, attribute: place.attribute.name, doneBytes: current.stored,
      sizeBytes: current.reference.sizeBytes)
  }

  /// The head of the answer.
  package mutating func received(status: Int) { reception?.status = status }

  /// Bytes of the answer, cut anywhere. False when nothing more of it is wanted.
  package mutating func received(_ bytes: [UInt8]) throws(FerryError) -> Bool {
    guard var current = reception else { return false }
    reception = nil
    guard current.status == 200 || current.status == 206 else {
      current.rest += bytes.prefix(max(0, ContentDownload.answerBytes - current.rest.count))
      reception = current
      return true
    }
    var left = bytes[...]
    while !left.isEmpty, current.setback == nil, !current.isOvertaken {
      let next = left.prefix(contents.pieceBytes - current.rest.count)
      current.rest += next
      left = left.dropFirst(next.count)
      if current.rest.count == contents.pieceBytes { try keep(&current) }
    }
    let goesOn = current.setback == nil && !current.isOvertaken
    reception = current
    return goesOn
  }

  /// The answer is over, or the line broke. What is left of a piece is kept too.
  ///
  /// Errors: `notDownloaded` where the content cannot be had now; what came stays.
  package mutating func ended(_ failure: FerryError?) throws(FerryError) {
    guard var current = reception else { return }
    reception = nil
    guard current.status == 200 || current.status == 206 else {
      if let failure { throw missing(failure) }
      return try refused(current)
    }
    if !current.rest.isEmpty, current.setback == nil, !current.isOvertaken { try keep(&current) }
    switch current.setback {
    case .stale(let error): needsRow(error)
    case .broken(let error): throw missing(error)
    case nil:
      if let failure { throw missing(failure) }
      guard current.stored > current.begun || current.isOvertaken else {
        throw missing(
          FerryError(
            .protocolViolation, "the server sent no bytes of the content",
            hint: "Check that a Ferry server is at this address.", isTransient: true))
      }
    }
  }

  /// What the row names now; nil where there is nothing to download.
  private func wanted() throws(FerryError) -> (key: ObjectKey, reference: BigReference)? {
    let row = try store.read { connection throws(SQLiteError) in
      try Rows(self.place.entity).visible(connection, object: self.place.object)
    }
    guard let row else {
      throw FerryError(
        .objectNotFound, "the \(place.entity.name) of the content is no longer on the device",
        hint: "It was deleted, here or by another user.", entity: place.entity.name)
    }
    guard let reference = row.values[place.position].bigReference else { return nil }
    return (place.entity.key(of: row.values), reference)
  }

  private func request(
    _ key: ObjectKey, _ reference: BigReference, _ entry: Contents.Entry
  ) throws(FerryError) -> ContentRequest {
    let start = entry.storedBytes
    let last = min(start + Int64(store.contentSizes.stretch), reference.sizeBytes) - 1
    var headers: [String: String] = [
      "If-Match": "\"\(reference)\"", "Range": ContentStretch(start: start, last: last).text,
    ]
    let token = try session.token(.accessToken)
    if let token { headers["Authorization"] = "Bearer \(token)" }
    let query =
      "entity=\(PercentEncoding.encode(place.entity.name))&key=\(PercentEncoding.encode(key.text))"
      + "&attribute=\(PercentEncoding.encode(place.attribute.name))"
    return ContentRequest(
      path: "content?\(query)", headers: headers, key: key, reference: reference, entry: entry)
  }

  /// Keeps what has come of a piece. The last one is kept only where the whole is what the row
  /// names: a content that is whole was looked at, whatever ends in between.
  private mutating func keep(_ current: inout Reception) throws(FerryError) {
    let stored = current.stored + Int64(current.rest.count)
    guard stored <= current.reference.sizeBytes else {
      current.setback = .broken(
        FerryError(
          .protocolViolation, "the server sent more bytes than the content has",
          hint: "Check that a Ferry server is at this address.", isTransient: true))
      return
    }
    var hashing = try hashing(of: current)
    self.hashing = nil
    hashing.hasher.update(current.rest)
    hashing.count = stored
    if stored == current.reference.sizeBytes,
      hexadecimal(hashing.hasher.finish()) != current.reference.digest,
      !store.world.has(.contentUnchecked)
    {
      try contents.discard(current.number)
      current.setback = .stale(
        FerryError(
          .protocolViolation, "the downloaded content does not match the row",
          hint: "It is downloaded again after the row is synchronized.", isTransient: true))
      return
    }
    guard try contents.append(current.rest, to: current.number, at: current.stored) else {
      current.isOvertaken = true
      return
    }
    let before = current.stored
    current.stored = stored
    current.rest.removeAll(keepingCapacity: true)
    self.hashing = hashing
    let progress = progress(of: current)
    if progress.isWorthTelling(after: before) { session.tell(progress) }
  }

  /// Of all that is here; after a start the stored pieces are read again.
  private func hashing(
    of current: Reception
  ) throws(FerryError) -> (number: Int64, count: Int64, hasher: SHA256Hasher) {
    if let hashing, hashing.number == current.number, hashing.count == current.stored {
      return hashing
    }
    let hasher = SHA256Hasher()
    var offset: Int64 = 0
    while offset < current.stored, let piece = try contents.piece(of: current.number, at: offset) {
      hasher.update(piece.bytes)
      offset = piece.start + Int64(piece.bytes.count)
    }
    return (current.number, offset, hasher)
  }

  private mutating func refused(_ current: Reception) throws(FerryError) {
    let error = Requests.serverError(current.rest, status: current.status)
    switch current.status {
    case 401:
      try session.forgetAccessToken()
      needsRow(error)
    case 404, 412, 416: needsRow(error)
    default: throw missing(error)
    }
  }

  private mutating func needsRow(_ error: FerryError) {
    stale = error
    staleRows += 1
    isBeginTold = false
  }

  /// What the app is told where the content cannot be had for this reason.
  package func missing(_ error: FerryError) -> FerryError {
    let reference = (try? wanted())?.reference
    let here = reference.flatMap { try? contents.entry($0)?.storedBytes } ?? 0
    return FerryError(
      .notDownloaded,
      "the content of \(place.entity.name).\(place.attribute.name) is not on the device, and could "
        + "not be downloaded: \(error.message)",
      hint: "Call download again when the server can be reached; \(here) of "
        + "\(reference?.sizeBytes ?? 0) bytes are here and are not sent again.",
      entity: place.entity.name, attribute: place.attribute.name, isTransient: error.isTransient,
      cause: error)
  }
}

/// A stretch of a content, as the server is asked for it.
package struct ContentRequest: Sendable {
  /// Below the server's address.
  package let path: String
  package let headers: [String: String]
  package let key: ObjectKey
  package let reference: BigReference
  /// As far as it was here.
  package let entry: Contents.Entry
}
