import FerryOData

/// Reads one form of a batch.
protocol BatchEngine: AnyObject {
  var items: [ODataBatchItem] { get set }
  var ledger: BatchLedger { get }
  func push(_ bytes: [UInt8], isLast: Bool) throws(ODataError)
}

/// Reads a batch of requests or responses in constant memory: push bytes, pull parts and pieces of
/// their bodies.
///
///     let reader = ODataBatchReader(contentType: header)
///     reader.push(bytes)
///     while let item = try reader.next() { … }
///     reader.finish()
///
/// Pull until nil after each push. Parts before a fault are handed out; then the error is thrown,
/// again at every call: `malformed`, `truncated`, `limit`, `missing`, `encoding`, `reference`,
/// `invalidValue`, and `strict` when reading strictly. In a multipart batch the boundary alone says
/// where a part ends; a `Content-Length` that says otherwise is a diagnostic. In a JSON batch a
/// body of more than `ODataLimits.heldBytes` must be the last member of its part.
/// Not safe to use from two threads at once.
public final class ODataBatchReader {
  private let limits: ODataLimits
  private let isStrict: Bool
  private let named: ODataBatchFormat?
  private var failure: ODataError?
  private var engine: (any BatchEngine)?
  private var early: [UInt8] = []
  private var pieces = PieceQueue()
  private var ready: [ODataBatchItem] = []
  private var taken = 0

  /// `contentType` is that of the whole batch. Without it the first bytes tell: `{` begins JSON,
  /// and the first line that begins with two hyphens names the boundary.
  public init(
    contentType: String? = nil, limits: ODataLimits = .standard, isStrict: Bool = false
  ) {
    self.limits = limits
    self.isStrict = isStrict
    named = contentType.flatMap { ODataBatchFormat(contentType: $0) }
    if let contentType, named == nil {
      let (type, parameters) = BatchText.mediaType(contentType)
      let boundary = type == "multipart/mixed" ? parameters["boundary"] : nil
      failure = ODataError(
        .unexpectedDocument,
        boundary.map { BatchText.fault(ofBoundary: $0) }
          ?? "\(BatchText.shown(contentType)) is not a Content-Type of a batch",
        hint: "a batch is application/json, or multipart/mixed with a boundary of 1 to "
          + "\(BatchText.boundaryLimit) characters")
    }
  }

  /// Hands over the next bytes; they are read when items are asked for.
  public func push(_ bytes: [UInt8]) { pieces.push(bytes) }

  /// Says that all bytes were pushed. What is left can still be pulled.
  public func finish() { pieces.finish() }

  /// The next thing of the batch; nil when more bytes must be pushed, or after `finish` at the end.
  public func next() throws(ODataError) -> ODataBatchItem? {
    while true {
      if taken < ready.count {
        defer { taken += 1 }
        return ready[taken]
      }
      ready.removeAll(keepingCapacity: true)
      taken = 0
      if let failure { throw failure }
      do throws(ODataError) {
        guard try read() else { return nil }
      } catch {
        failure = error
      }
      guard let engine else { continue }
      swap(&ready, &engine.items)
      engine.items.removeAll(keepingCapacity: true)
    }
  }

  /// What was not as it should be, so far.
  public var diagnostics: [ODataDiagnostic] { engine?.ledger.diagnostics.list ?? [] }

  /// Whether the batch is JSON; known with the first part.
  package var isJSON: Bool { engine is JSONBatchEngine }

  /// Reads one piece; false when there is nothing to read.
  private func read() throws(ODataError) -> Bool {
    guard let piece = pieces.next() else { return false }
    try pass(piece.bytes, isLast: piece.isLast)
    return true
  }

  private func pass(_ bytes: [UInt8], isLast: Bool) throws(ODataError) {
    if let engine { return try engine.push(bytes, isLast: isLast) }
    early += bytes
    guard let made = try makeEngine(isLast: isLast) else { return }
    engine = made
    let first = early
    early = []
    try made.push(first, isLast: isLast)
  }

  private func makeEngine(isLast: Bool) throws(ODataError) -> (any BatchEngine)? {
    switch named {
    case .json: return JSONBatchEngine(limits: limits, isStrict: isStrict)
    case .multipart(let boundary):
      return MultipartBatchEngine(boundary: boundary, limits: limits, isStrict: isStrict)
    case nil: break
    }
    guard early.count >= 64 || isLast else { return nil }
    if HTMLPage.isHTML(early) { throw HTMLPage.refusal }
    if ODataSniff.isJSON(early) { return JSONBatchEngine(limits: limits, isStrict: isStrict) }
    switch Self.firstBoundary(early, isLast: isLast) {
    case .found(let boundary):
      return MultipartBatchEngine(boundary: boundary, limits: limits, isStrict: isStrict)
    case .more where early.count <= limits.headBytes && !isLast: return nil
    case .bad(let text):
      throw ODataError(
        .unexpectedDocument, BatchText.fault(ofBoundary: text), at: ODataPlace(line: 1, column: 1),
        hint: "a boundary is 1 to \(BatchText.boundaryLimit) characters of RFC 2046")
    default:
      throw ODataError(
        .unexpectedDocument, "no line of a boundary begins the batch",
        at: ODataPlace(line: 1, column: 1), hint: "pass its Content-Type, which names the boundary")
    }
  }

  package enum FirstBoundary: Equatable { case found(String), bad(String), more, none }

  /// The boundary that the first line with two hyphens names.
  package static func firstBoundary(_ bytes: [UInt8], isLast: Bool) -> FirstBoundary {
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let end = bytes[start...].firstIndex(of: 0x0A)
      let line = bytes[start..<(end ?? bytes.endIndex)]
      if end == nil, !isLast { return .more }
      if line.starts(with: "--".utf8) {
        var name = line.dropFirst(2)
        while let last = name.last, last == 0x0D || last == 0x20 || last == 0x09 {
          name.removeLast()
        }
        // A batch without parts begins with its last line.
        if name.count > 2, name.suffix(2).elementsEqual("--".utf8) { name = name.dropLast(2) }
        let text = String(decoding: name, as: UTF8.self)
        return BatchText.isBoundary(text) ? .found(text) : .bad(text)
      }
      guard let end else { return .none }
      start = end + 1
    }
    return isLast ? .none : .more
  }
}
