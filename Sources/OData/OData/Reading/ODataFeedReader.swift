/// Reads a feed or an entry of any size in constant memory: push bytes, pull entries.
///
///     let reader = ODataFeedReader()
///     try reader.push(bytes)
///     while let entry = try reader.nextEntry() { … }
///     try reader.finish()
///
/// Atom and JSON are told apart by their first bytes. Not safe to use from two threads at once.
/// Reference: adr/PAX-10, ios/PAR-3.
public final class ODataFeedReader {
  private enum Engine {
    case unknown
    case atom(AtomFeedEngine)
    case json(JSONFeedEngine)
  }

  private let context: ODataReadContext
  private let clock: (() -> Duration)?
  private var engine = Engine.unknown
  private var early: [UInt8] = []
  /// Pieces that were pushed and not yet read, so that one push does not make all entries at once.
  private var pieces = PieceQueue()
  private var failure: ODataError?
  /// Whether the failure was told: nothing more is handed out.
  private var isOver = false
  private var log = ODataReadLog()

  /// With a `clock` that tells the time since any moment, `log` knows how long reading took; the
  /// reader looks at no clock of its own (adr/PAX-8).
  public init(
    _ options: ODataReadOptions = ODataReadOptions(), clock: (() -> Duration)? = nil
  ) {
    context = ODataReadContext(options)
    self.clock = clock
  }

  /// What was read so far, and what it cost.
  public var performance: ODataReadLog { log }

  /// Hands over the next bytes of the document; they are read when entries are asked for.
  public func push(_ bytes: [UInt8]) { pieces.push(bytes) }

  /// Says that all bytes were pushed. What is left can still be pulled.
  public func finish() { pieces.finish() }

  /// The next thing of the feed; nil when more bytes must be pushed, or after `finish` at the end.
  public func next() throws(ODataError) -> ODataItem? {
    guard
      let item = try pull(
        { engine throws(ODataError) in try engine.next() },
        { engine throws(ODataError) in try engine.next() })
    else { return nil }
    if case .entry = item { log.entries += 1 } else { log.others += 1 }
    return item
  }

  /// The next entry where it stands, of which only what is asked for is made; passes over what is
  /// none. nil when more bytes must be pushed, or after `finish` at the end.
  public func nextRow() throws(ODataError) -> ODataRow? {
    guard
      let row = try pull(
        { engine throws(ODataError) in try engine.nextRow() },
        { engine throws(ODataError) in try engine.nextRow() })
    else { return nil }
    log.entries += 1
    return row
  }

  /// Asks the engine, and reads on while it has nothing. What stood before a fault is still handed
  /// out, then the fault again and again.
  @inline(__always)
  private func pull<T>(
    _ atom: (AtomFeedEngine) throws(ODataError) -> T?,
    _ json: (JSONFeedEngine) throws(ODataError) -> T?
  ) throws(ODataError) -> T? {
    if isOver, let failure { throw failure }
    let began = clock?()
    defer {
      if let began, let clock { log.time = (log.time ?? .zero) + clock() - began }
    }
    do throws(ODataError) {
      while true {
        let found: T?
        switch engine {
        case .unknown: found = nil
        case .atom(let engine): found = try atom(engine)
        case .json(let engine): found = try json(engine)
        }
        if let found { return found }
        if let failure { throw failure }
        do throws(ODataError) {
          guard try read() else { return nil }
        } catch {
          failure = error
        }
      }
    } catch {
      failure = error
      isOver = true
      throw error
    }
  }

  /// The next entry; passes over what is none (deleted entries, values).
  public func nextEntry() throws(ODataError) -> ODataEntry? {
    while let item = try next() {
      if case .entry(let entry) = item { return entry }
    }
    return nil
  }

  /// What the feed says of itself; count and next may only be known at its end.
  public var head: ODataFeedHead {
    switch engine {
    case .unknown: ODataFeedHead()
    case .atom(let engine): engine.head
    case .json(let engine): engine.head
    }
  }

  /// Whether the document is a feed; nil while that is not known.
  public var isFeed: Bool? {
    switch engine {
    case .unknown: nil
    case .atom(let engine): engine.isFeed
    case .json(let engine): engine.isFeed
    }
  }

  /// Whether the document is Atom, verbose JSON of V2 and V3, or other JSON; nil while unknown.
  package var shape: (format: ODataFormat, isVerbose: Bool)? {
    switch engine {
    case .unknown: nil
    case .atom: (.atom, false)
    case .json(let engine): (.json, engine.isVerbose)
    }
  }

  /// What was not as it should be, so far.
  public var diagnostics: [ODataDiagnostic] { context.diagnostics.list }

  /// Reads one piece; false when there is nothing to read.
  private func read() throws(ODataError) -> Bool {
    guard let piece = pieces.next() else { return false }
    try feed(piece.bytes, isLast: piece.isLast)
    return true
  }

  private func feed(_ bytes: [UInt8], isLast: Bool) throws(ODataError) {
    log.bytes += bytes.count
    guard case .unknown = engine else { return try pass(bytes, isLast: isLast) }
    early += bytes
    guard early.count >= 64 || isLast else { return }
    if HTMLPage.isHTML(early) { throw HTMLPage.refusal }
    engine =
      ODataSniff.isJSON(early) ? .json(JSONFeedEngine(context)) : .atom(AtomFeedEngine(context))
    let first = early
    early = []
    try pass(first, isLast: isLast)
  }

  private func pass(_ bytes: [UInt8], isLast: Bool) throws(ODataError) {
    switch engine {
    case .unknown: break
    case .atom(let engine): try engine.push(bytes, isLast: isLast)
    case .json(let engine): try engine.push(bytes, isLast: isLast)
    }
  }
}

extension ODataFeed {
  /// Reads a feed whole; a document that is one entry becomes a feed of one.
  public static func read(
    _ bytes: [UInt8], _ options: ODataReadOptions = ODataReadOptions()
  ) throws(ODataError) -> ODataFeed {
    let reader = ODataFeedReader(options)
    reader.push(bytes)
    reader.finish()
    var feed = ODataFeed()
    while let item = try reader.next() { feed.items.append(item) }
    feed.head = reader.head
    return feed
  }
}

extension ODataEntry {
  /// Reads a document that is one entry.
  public static func read(
    _ bytes: [UInt8], _ options: ODataReadOptions = ODataReadOptions()
  ) throws(ODataError) -> ODataEntry {
    let feed = try ODataFeed.read(bytes, options)
    guard feed.items.count == 1, let entry = feed.entries.first else {
      throw ODataError(
        .unexpectedDocument, "the document holds \(feed.entries.count) entries, not one",
        at: ODataPlace(line: 1, column: 1))
    }
    return entry
  }
}

/// The entries of a feed as they arrive.
public struct ODataEntrySequence<Bytes: AsyncSequence>: AsyncSequence
where Bytes.Element == [UInt8] {
  /// What a feed holds.
  public typealias Element = ODataItem
  private let bytes: Bytes
  private let options: ODataReadOptions

  /// `bytes` gives the pieces of the document in order.
  public init(_ bytes: Bytes, _ options: ODataReadOptions = ODataReadOptions()) {
    self.bytes = bytes
    self.options = options
  }

  /// Pulls pieces as entries are asked for.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var bytes: Bytes.AsyncIterator
    fileprivate let reader: ODataFeedReader
    private var isOver = false

    fileprivate init(_ bytes: Bytes.AsyncIterator, _ reader: ODataFeedReader) {
      self.bytes = bytes
      self.reader = reader
    }

    /// The next thing of the feed. Throws `ODataError`, and what the bytes throw.
    public mutating func next() async throws -> ODataItem? {
      while true {
        if let item = try reader.next() { return item }
        if isOver { return nil }
        if let piece = try await bytes.next() {
          reader.push(piece)
        } else {
          isOver = true
          reader.finish()
        }
      }
    }
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(bytes.makeAsyncIterator(), ODataFeedReader(options))
  }
}
