import FerryOData

/// Reads a multipart batch by pieces: parts, changesets, and the HTTP messages inside.
final class MultipartBatchEngine: BatchEngine {
  private enum State { case preamble, partHead, firstLine, messageHead, body, epilogue, end }

  var items: [ODataBatchItem] = []
  private(set) var ledger: BatchLedger
  private var scan: BoundaryScan
  private var state = State.preamble
  private var isLast = false
  private var head: BatchHead
  /// The group of the changeset that is open.
  private var group: String?
  private var groups: Set<String> = []
  private var part = ODataBatchPart(.response(status: 0))
  private var id: String?
  private var statedLengths: [String] = []
  private var statedBody: [String] = []
  private var messageBytes = 0
  private var bodyBytes = 0
  private var number = 0
  private var innerNumber = 0

  private let outer: String

  init(boundary: String, limits: ODataLimits, isStrict: Bool) {
    outer = boundary
    scan = BoundaryScan([boundary])
    ledger = BatchLedger(isJSON: false, limits: limits, isStrict: isStrict)
    head = BatchHead(limits)
  }

  func push(_ bytes: [UInt8], isLast: Bool) throws(ODataError) {
    scan.push(bytes, isLast: isLast)
    self.isLast = isLast
    while try step() {}
    if isLast, state != .end { throw truncated }
  }

  private var truncated: ODataError {
    let what =
      switch state {
      case .preamble where scan.depth == 1: "the batch has no boundary line"
      case .preamble, .epilogue: "the batch ends inside the changeset \(group ?? "")"
      default: "the batch ends inside a part"
      }
    return ODataError(.truncated, what, at: place)
  }

  private var place: ODataPlace {
    let (line, column) = scan.place()
    var path = number > 0 ? "/part[\(number)]" : ""
    if innerNumber > 0 { path += "/part[\(innerNumber)]" }
    return ODataPlace(line: line, column: column, path: path)
  }

  /// Reads on; false when there is not enough.
  private func step() throws(ODataError) -> Bool {
    switch state {
    case .end:
      // What follows the last boundary has no meaning.
      _ = scan.skip()
      return false
    case .preamble, .epilogue: return try passOver()
    case .partHead, .firstLine, .messageHead: return try headLine()
    case .body: return try readBody()
    }
  }

  private func passOver() throws(ODataError) -> Bool {
    guard case .delimiter(let delimiter) = scan.skip() else { return false }
    try cross(delimiter)
    return true
  }

  /// Goes on behind a line of a boundary.
  private func cross(_ delimiter: BoundaryScan.Delimiter) throws(ODataError) {
    if delimiter.level == 0, scan.depth > 1 {
      throw ODataError(
        .truncated, "the changeset \(group ?? "") is not closed by its boundary", at: place)
    }
    if delimiter.level == 1 {
      if delimiter.isClose {
        // The outer boundary must follow; what stands before it has no meaning.
        scan.close()
        state = .epilogue
        innerNumber = 0
        return
      }
      innerNumber += 1
    } else {
      group = nil
      innerNumber = 0
      if delimiter.isClose {
        state = .end
        return
      }
      number += 1
    }
    head = BatchHead(ledger.limits)
    state = .partHead
  }

  private func headLine() throws(ODataError) -> Bool {
    switch scan.nextLine(limit: head.room) {
    case .more: return false
    case .delimiter(let delimiter):
      guard state == .messageHead else {
        throw ODataError(
          .malformed,
          state == .partHead
            ? "the head of the part is not closed by an empty line"
            : "the part has neither a request nor a response", at: place)
      }
      try endHead()
      try endPart()
      try cross(delimiter)
    case .line(let line):
      if state != .partHead { messageBytes += line.count + scan.lineEndBytes }
      if line.isEmpty {
        try emptyLine()
      } else if state == .firstLine {
        try head.count(line, at: place)
        let (subject, note) = try BatchHead.subject(line, at: place)
        if let note { try ledger.report(note, place, "it is used unchanged") }
        part = ODataBatchPart(subject, group: group)
        state = .messageHead
      } else {
        try head.take(line, at: place)
      }
    }
    return true
  }

  private func emptyLine() throws(ODataError) {
    switch state {
    case .partHead: try endPartHead()
    case .messageHead:
      try endHead()
      state = .body
    default:
      // Empty lines before a request line are passed over, as RFC 9112 asks, up to the limit.
      try head.count([], at: place)
    }
  }

  /// Decides what a part is by its MIME head.
  private func endPartHead() throws(ODataError) {
    guard let contentType = try one("Content-Type") else {
      throw ODataError(.missing, "the part has no Content-Type", at: place)
    }
    if let encoding = head.remove("Content-Transfer-Encoding").first?.lowercased(),
      !["binary", "8bit", "7bit"].contains(encoding)
    {
      throw ODataError(
        .malformed, "the transfer encoding \(BatchText.shown(encoding)) is not binary", at: place)
    }
    id = try one("Content-ID")
    statedLengths = head.remove("Content-Length")
    let (type, parameters) = BatchText.mediaType(contentType)
    head = BatchHead(ledger.limits)
    if type == "application/http" {
      messageBytes = 0
      state = .firstLine
    } else if type == "multipart/mixed", scan.depth == 1 {
      try beginChangeset(parameters["boundary"])
    } else {
      throw ODataError(
        .malformed, "\(BatchText.shown(contentType)) is not a part of a batch", at: place)
    }
  }

  /// Takes a field out that a MIME head has once: of two, each reader would believe another.
  private func one(_ name: String) throws(ODataError) -> String? {
    let found = head.remove(name)
    guard found.count < 2 else {
      throw ODataError(.malformed, "the part has \(found.count) headers \(name)", at: place)
    }
    return found.first
  }

  private func beginChangeset(_ boundary: String?) throws(ODataError) {
    guard let boundary else {
      throw ODataError(.malformed, "the changeset has no boundary", at: place)
    }
    guard BatchText.isBoundary(boundary) else {
      throw ODataError(.malformed, BatchText.fault(ofBoundary: boundary), at: place)
    }
    guard boundary != outer, boundary != outer + "--", boundary + "--" != outer else {
      throw ODataError(
        .malformed,
        "the boundary of the changeset differs from the outer one only by --, or not at all",
        at: place)
    }
    // Our own writer puts the outer boundary behind the name of the group; it stood before it once.
    let tail = "_" + outer
    let name =
      boundary.hasSuffix(tail)
      ? String(boundary.dropLast(tail.count))
      : boundary.hasPrefix(outer + "_") ? String(boundary.dropFirst(outer.count + 1)) : ""
    let wanted = name.isEmpty ? boundary : name
    var free = wanted
    var count = 2
    while !groups.insert(free).inserted {
      free = "\(wanted)-\(count)"
      count += 1
    }
    group = free
    scan.open(boundary)
    state = .preamble
  }

  private func endHead() throws(ODataError) {
    statedBody = head.remove("Content-Length")
    let inner = head.remove("Content-ID").first
    if let inner, let id, inner != id {
      try ledger.report(
        "the part has the Content-IDs \(BatchText.shown(id)) and \(BatchText.shown(inner))", place,
        "the value of the part is used")
    }
    part.id = [id ?? inner].compactMap { $0 }.first { !$0.isEmpty }
    part.headers = head.fields
    if group != nil, part.method == "GET" || part.method == "HEAD" {
      try ledger.report("a changeset has a \(part.method ?? "")", place, "it is read")
    }
    try ledger.enter(part, at: place)
    items.append(.part(part))
    bodyBytes = 0
  }

  private func readBody() throws(ODataError) -> Bool {
    var content: [UInt8] = []
    let found = scan.body(into: &content)
    bodyBytes += content.count
    if !content.isEmpty { items.append(.body(content)) }
    guard case .delimiter(let delimiter) = found else { return false }
    messageBytes += bodyBytes
    try endPart()
    try cross(delimiter)
    return true
  }

  /// The boundary decides where a part ends; a length that says otherwise is only reported.
  private func endPart() throws(ODataError) {
    items.append(.end)
    for stated in statedBody where Int(stated) != bodyBytes {
      try report(stated, "the body", bodyBytes)
    }
    // Of the whole message some writers count the line end before the boundary, some do not.
    for stated in statedLengths {
      guard let count = Int(stated), (messageBytes - 2...messageBytes + 2).contains(count) else {
        try report(stated, "the part", messageBytes)
        continue
      }
    }
  }

  private func report(_ stated: String, _ what: String, _ count: Int) throws(ODataError) {
    try ledger.report(
      "Content-Length says \(BatchText.shown(stated)), and \(what) has \(count) bytes", place,
      "the boundary decides")
  }
}
