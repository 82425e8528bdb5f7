import FerryConnector
import FerryHTTP
import FerryHTTPClient
import FerryModel
import FerryOData
import FerryODataClient

/// The rows of a set, page after page as the service gives them.
///
/// A page that brings a row twice is read once more. Where the service gives no next page although it
/// counts more rows, the others are asked for by `$skip`.
actor FeedReader {
  private let line: FeedLine
  private let form: EntityForm
  private let tracks: Bool
  private var links: ODataNextLinks
  /// Of the page to open next.
  private var address: String?
  private var page: FeedLine.Page?
  /// The rows of the page that is read before `pending`.
  private var taken = 0
  /// Rows of a page that an earlier reading gave.
  private var passing = 0
  private var isPassing = false
  private var count: Int?
  private var seen = 0
  private var emptyPages = 0
  private var keys: Set<ObjectKey> = []
  private var readAgain: String?
  private let isResumed: Bool
  private var hasBegun = false
  /// Where later changes will be; known at the end, and only where it was asked for.
  private(set) var deltaLink: String?

  /// Rows that are given at a time.
  static let pageRows = 1_000
  /// Rows of a page of the service, where it asks for a wish.
  static let askedPageRows = 5_000

  /// `tracks`: the service is asked for a link to later changes.
  init(_ line: FeedLine, _ form: EntityForm, from place: FeedPlace? = nil, tracks: Bool = false) {
    self.line = line
    self.tracks = tracks
    self.form = form
    let start = line.service.root + form.feedAddress(line.service)
    links = ODataNextLinks(start: start)
    address = place?.address ?? start
    passing = place?.taken ?? 0
    count = place?.count
    seen = place?.seen ?? 0
    isResumed = place != nil
    isPassing = isResumed
  }

  /// Some rows, and where a later reading goes on behind them.
  struct Chunk: Sendable {
    var rows: [RowImage]
    var place: FeedPlace?
    var isLast: Bool
  }

  /// At most `pageRows`; the last chunk says that it is.
  func next() async -> Result<Chunk, FeedFailure> {
    do throws(FeedFailure) { return .success(try await chunk()) } catch {
      page?.body.cancel()
      page = nil
      address = nil
      guard isResumed, !hasBegun, error.kind == .refused else { return .failure(error) }
      return .failure(
        FeedFailure(
          .refused, ConnectorError(error.error.message, hint: error.error.hint, isTransient: false))
      )
    }
  }

  private func chunk() async throws(FeedFailure) -> Chunk {
    var rows: [RowImage] = []
    while true {
      if page == nil {
        guard let address else { return Chunk(rows: rows, place: nil, isLast: true) }
        taken = 0
        page = try await line.open(address, form, prefers: preference)
        hasBegun = true
      }
      while rows.count < FeedReader.pageRows, let current = page,
        let row = try await line.row(current, form)
      {
        if count == nil { count = current.count }
        if isKnown(row) {
          passing -= 1
        } else if isNew(row) {
          rows.append(row)
          seen += 1
        } else {
          rows = try again(row, rows)
          continue
        }
        taken += 1
      }
      if rows.count >= FeedReader.pageRows { break }
      try turn()
      if page == nil, address == nil || !rows.isEmpty { break }
    }
    return Chunk(rows: rows, place: place, isLast: page == nil && address == nil)
  }

  /// Of a page that is read once more: whether the row was given before.
  private func isKnown(_ row: RowImage) -> Bool {
    guard isPassing else { return false }
    if passing > 0 || row.rejected == nil && keys.contains(row.key) { return true }
    isPassing = false
    return false
  }

  /// V2 gives a link, or does not, without being asked.
  private var preference: String? {
    guard line.service.metadata.version >= .v4 else { return nil }
    let size = "odata.maxpagesize=\(FeedReader.askedPageRows)"
    return tracks ? "\(DeltaReader.preference),\(size)" : size
  }

  private func isNew(_ row: RowImage) -> Bool {
    // A row that does not fit may not even have a key.
    row.rejected != nil || keys.insert(row.key).inserted
  }

  /// The page is read once more from its beginning. What was given of it is passed over, and what was
  /// not is forgotten.
  private func again(
    _ row: RowImage, _ rows: [RowImage]
  ) throws(FeedFailure) -> [RowImage] {
    guard let here = page?.address, readAgain != here else {
      throw FeedFailure(
        .odd,
        ConnectorError(
          "The service gave \(form.entity.name) \(row.key) twice while \(form.set.name) was read",
          hint: "It is read again.", isTransient: true))
    }
    readAgain = here
    page?.body.cancel()
    page = nil
    address = here
    for row in rows { keys.remove(row.key) }
    seen -= rows.count
    passing = 0
    isPassing = true
    return []
  }

  /// Goes on to the next page where this one has come to its end.
  private func turn() throws(FeedFailure) {
    guard let ended = page else { return }
    page = nil
    address = nil
    isPassing = false
    let head = ended.reader.head
    deltaLink = head.delta.map { ODataURL.resolved($0, base: ended.address) }
    if let next = head.next {
      do throws(ODataError) { address = try links.follow(next, base: ended.address) } catch {
        throw FeedFailure(
          .odd,
          ConnectorError(
            "The pages of \(form.set.name) lead nowhere: \(error.message)",
            hint: "Look at the next links of the service; nothing was deleted.", isTransient: true))
      }
      if taken > 0 || emptyPages < ODataClientLimits.emptyPages {
        emptyPages = taken > 0 ? 0 : emptyPages + 1
        if let count, seen > count + max(1_000, count / 10) { throw wrongCount(count) }
        // Before V4 an empty page is the end: some services link on from it for ever.
        if taken == 0, line.service.metadata.version < .v4 { address = nil } else { return }
      }
    }
    guard let count, seen < count else { return }
    guard taken > 0 else { throw wrongCount(count) }
    // It gives fewer rows than there are, and does not say where the others are.
    let skip = line.service.root + form.feedAddress(line.service) + "&$skip=\(seen)"
    address = skip
  }

  private func wrongCount(_ count: Int) -> FeedFailure {
    FeedFailure(
      .odd,
      ConnectorError(
        "The service counts \(count) objects in \(form.set.name) and gave \(seen)",
        hint: "It is read again; nothing was deleted.", isTransient: true))
  }

  /// Behind what was given.
  private var place: FeedPlace? {
    if let page {
      return FeedPlace(address: page.address, taken: taken, seen: seen, count: count)
    }
    return address.map {
      FeedPlace(address: $0, taken: 0, seen: seen, count: count)
    }
  }
}

/// Where the reading of a set goes on.
struct FeedPlace: Sendable, Equatable {
  var address: String
  /// Rows of the page that were given before.
  var taken: Int
  var seen: Int
  var count: Int?

  var text: String {
    [address, String(taken), String(seen), count.map { String($0) } ?? ""]
      .joined(separator: "\n")
  }

  init(address: String, taken: Int, seen: Int, count: Int?) {
    self.address = address
    self.taken = taken
    self.seen = seen
    self.count = count
  }

  init?(text: Substring) {
    let parts = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard parts.count == 4, let taken = Int(parts[1]), let seen = Int(parts[2]) else { return nil }
    self.init(
      address: String(parts[0]), taken: taken, seen: seen, count: Int(parts[3]))
  }
}
