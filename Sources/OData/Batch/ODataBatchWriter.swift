import FerryOData

/// Writes one form of a batch.
protocol BatchForm {
  var output: [UInt8] { get set }
  var ledger: BatchLedger { get set }
  mutating func begin(_ part: ODataBatchPart, length: Int?) throws(ODataError)
  mutating func body(_ bytes: [UInt8]) throws(ODataError)
  mutating func end() throws(ODataError)
  mutating func finish() throws(ODataError)
}

/// Writes a batch of requests or responses as it goes: parts in, bytes out, in constant memory.
///
///     var writer = try ODataBatchWriter(.json)
///     try writer.add(part)
///     send(writer.take())
///     try writer.finish()
///     send(writer.take())
///
/// What is written and read again is equal; in JSON a request whose address begins with `$` and an
/// id gets the `dependsOn` that the format asks for. What a form cannot say is refused (`unwritable`):
/// a line end in a header or address, a boundary that stands in a body, a body that is not what its
/// Content-Type says in JSON, a part of JSON without id, `dependsOn` in multipart. A reference to
/// what does not stand before, and an id given twice, are refused (`reference`). After an error the
/// batch cannot be completed: every call throws it again.
public struct ODataBatchWriter {
  /// Fixed when the writer is made.
  public let format: ODataBatchFormat
  private var form: any BatchForm
  private var isOpen = false
  private var isFinished = false
  private var failure: ODataError?

  /// Throws `unwritable` when the boundary is none: 1 to 70 characters of RFC 2046, best drawn by
  /// chance.
  public init(
    _ format: ODataBatchFormat, limits: ODataLimits = .standard
  ) throws(ODataError) {
    self.format = format
    switch format {
    case .multipart(let boundary):
      form = try MultipartBatchForm(boundary: boundary, limits: limits)
    case .json: form = JSONBatchForm(limits: limits)
    }
  }

  /// Writes the head of a part; pieces of its body may follow, then `end`. The part's own `body` is
  /// not written. Calling it before the last part was ended is a programmer's error.
  public mutating func begin(_ part: ODataBatchPart) throws(ODataError) {
    try begin(part, length: nil)
  }

  /// Writes the next bytes of the body of the part that was begun.
  public mutating func body(_ bytes: [UInt8]) throws(ODataError) {
    precondition(isOpen, "a body without a part: call begin first")
    try attempt { form throws(ODataError) in try form.body(bytes) }
  }

  /// Completes the part that was begun.
  public mutating func end() throws(ODataError) {
    precondition(isOpen, "no part was begun")
    try attempt { form throws(ODataError) in try form.end() }
    isOpen = false
  }

  /// Writes a part with its body, and in multipart with its true Content-Length.
  public mutating func add(_ part: ODataBatchPart) throws(ODataError) {
    try begin(part, length: part.body.count)
    if !part.body.isEmpty { try body(part.body) }
    try end()
  }

  /// Writes what closes the batch. Nothing may follow.
  public mutating func finish() throws(ODataError) {
    precondition(!isOpen && !isFinished, "a part is open, or the batch was finished before")
    try attempt { form throws(ODataError) in try form.finish() }
    isFinished = true
  }

  /// What was written since the last time.
  public mutating func take() -> [UInt8] {
    let bytes = form.output
    form.output = []
    return bytes
  }

  private mutating func begin(_ part: ODataBatchPart, length: Int?) throws(ODataError) {
    precondition(!isOpen && !isFinished, "the part before was not ended, or the batch is finished")
    try attempt { form throws(ODataError) in
      try BatchCheck.head(part)
      try form.ledger.enter(part, at: ODataPlace(path: "/part[\(form.ledger.parts + 1)]"))
      try form.begin(part, length: length)
    }
    isOpen = true
  }

  private mutating func attempt(
    _ body: (inout any BatchForm) throws(ODataError) -> Void
  ) throws(ODataError) {
    if let failure { throw failure }
    do throws(ODataError) { try body(&form) } catch {
      failure = error
      throw error
    }
  }
}

/// What no part may hold in either form.
enum BatchCheck {
  static func unwritable(_ message: String, hint: String? = nil) -> ODataError {
    ODataError(.unwritable, message, hint: hint)
  }

  static func head(_ part: ODataBatchPart) throws(ODataError) {
    switch part.subject {
    case .request(let method, let url):
      guard BatchText.isToken(method), !method.hasPrefix("HTTP/") else {
        throw unwritable("\"\(BatchText.shown(method))\" is not a method")
      }
      guard BatchText.isAddress(url) else {
        throw unwritable(
          "\"\(BatchText.shown(url))\" is not an address that a line can carry",
          hint: "percent-encode blanks, line ends and what is not ASCII")
      }
    case .response(let status):
      guard (100...999).contains(status) else { throw unwritable("\(status) is not a status") }
    }
    for header in part.headers {
      guard BatchText.isToken(header.name) else {
        throw unwritable("\"\(BatchText.shown(header.name))\" is not a name of a header")
      }
      guard BatchText.isValue(header.value) else {
        throw unwritable(
          "the value of \(header.name) holds a line end, a control character or a blank at an end",
          hint: "a line end would begin another header; remove it")
      }
      if BatchText.isSame(header.name, "Content-ID") {
        throw unwritable("Content-ID is among the headers", hint: "set the part's id instead")
      }
    }
    if let id = part.id, id.isEmpty || !BatchText.isValue(id) {
      throw unwritable("the id holds a line end, a control character, or nothing")
    }
    for text in [part.group, part.condition].compactMap({ $0 }) + part.dependsOn
    where !BatchText.isLine(text) {
      throw unwritable("\"\(BatchText.shown(text))\" holds a line end or a control character")
    }
  }

  /// The headers but for the length, which the writer knows better.
  static func headers(_ part: ODataBatchPart) -> [ODataBatchPart.Header] {
    part.headers.filter { !BatchText.isSame($0.name, "Content-Length") }
  }
}
