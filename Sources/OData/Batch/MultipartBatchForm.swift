import FerryOData

/// Writes a multipart batch, lines ended by CR LF.
struct MultipartBatchForm: BatchForm {
  var output: [UInt8] = []
  var ledger: BatchLedger
  private let boundary: String
  private let limits: ODataLimits
  private var group: String?
  /// Looks for the boundaries in the body that is written.
  private var scan: BoundaryScan
  private var groups: Set<String> = []

  init(boundary: String, limits: ODataLimits) throws(ODataError) {
    guard BatchText.isBoundary(boundary), boundary.utf8.allSatisfy(Self.isBoundaryByte) else {
      throw BatchCheck.unwritable(
        BatchText.fault(ofBoundary: boundary),
        hint: "a boundary is 1 to \(BatchText.boundaryLimit) characters of RFC 2046")
    }
    self.boundary = boundary
    self.limits = limits
    scan = BoundaryScan([])
    ledger = BatchLedger(isJSON: false, limits: limits, isStrict: false)
  }

  /// RFC 2046, 5.1.1.
  private static func isBoundaryByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "'()+_,-./:=?".utf8.contains(byte)
    }
  }

  /// The outer boundary is its end, so that chance serves both, and never its beginning: by RFC 2046,
  /// 5.1.1, a line that begins with a boundary ends the part.
  private func inner(_ group: String) -> String {
    let name = "\(group)_\(boundary)"
    return name.hasPrefix(boundary) ? "g" + name : name
  }

  private mutating func line(_ text: String) { output += Array(text.utf8) + [0x0D, 0x0A] }

  mutating func begin(_ part: ODataBatchPart, length: Int?) throws(ODataError) {
    guard part.dependsOn.isEmpty, part.condition == nil else {
      throw BatchCheck.unwritable(
        "multipart cannot write dependsOn and if", hint: "write the batch as JSON")
    }
    if part.group != nil, part.method == "GET" || part.method == "HEAD" {
      throw BatchCheck.unwritable(
        "a changeset cannot have a \(part.method ?? "")", hint: "put it outside the changeset")
    }
    // What a reader with these limits refuses is not written; one header is the length.
    let headers = BatchCheck.headers(part)
    let bytes = headers.reduce(part.url?.utf8.count ?? 0) {
      $0 + $1.name.utf8.count + $1.value.utf8.count + 4
    }
    guard headers.count < limits.headFields,
      bytes + (part.method?.utf8.count ?? 0) + 100 < limits.headBytes,
      (part.id?.utf8.count ?? 0) + 200 < limits.headBytes
    else { throw ODataError(.limit, "the head of a part is longer than a reader takes") }
    try move(to: part.group)
    line("--\(group.map(inner) ?? boundary)")
    line("Content-Type: application/http")
    line("Content-Transfer-Encoding: binary")
    if let id = part.id { line("Content-ID: \(id)") }
    line("")
    switch part.subject {
    case .request(let method, let url): line("\(method) \(url) HTTP/1.1")
    case .response(let status): line("HTTP/1.1 \(status) \(Self.reason(status))")
    }
    for header in headers { line("\(header.name): \(header.value)") }
    if let length, length > 0 { line("Content-Length: \(length)") }
    line("")
    scan = BoundaryScan([boundary] + (group.map { [inner($0)] } ?? []))
  }

  /// Closes the changeset that is open and opens the next.
  private mutating func move(to next: String?) throws(ODataError) {
    guard next != group else { return }
    closeGroup()
    guard let next else { return }
    let inner = inner(next)
    guard !next.isEmpty, inner.utf8.count <= 70, next.utf8.allSatisfy(Self.isBoundaryByte) else {
      throw BatchCheck.unwritable(
        "\"\(BatchText.shown(next))\" is not a name of a changeset",
        hint: "use letters, digits and '()+_,-./:=? ; with the outer boundary at most 70")
    }
    guard groups.insert(next).inserted else {
      throw BatchCheck.unwritable("the parts of the group \(next) do not follow each other")
    }
    line("--\(boundary)")
    line("Content-Type: \(ODataBatchFormat.multipart(boundary: inner).contentType)")
    line("")
    group = next
  }

  private mutating func closeGroup() {
    guard let group else { return }
    line("--\(inner(group))--")
    self.group = nil
  }

  mutating func body(_ bytes: [UInt8]) throws(ODataError) {
    try look(bytes, isLast: false)
    output += bytes
  }

  mutating func end() throws(ODataError) {
    // The line end that follows may complete a line of the boundary.
    try look([0x0D, 0x0A], isLast: true)
    line("")
  }

  private mutating func look(_ bytes: [UInt8], isLast: Bool) throws(ODataError) {
    scan.push(bytes, isLast: isLast)
    var ignored: [UInt8] = []
    guard scan.body(into: &ignored) == .more else {
      throw BatchCheck.unwritable(
        "the body of a part has the boundary", hint: "make another random boundary")
    }
  }

  mutating func finish() throws(ODataError) {
    closeGroup()
    line("--\(boundary)--")
  }

  private static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 201: "Created"
    case 202: "Accepted"
    case 204: "No Content"
    case 304: "Not Modified"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 409: "Conflict"
    case 412: "Precondition Failed"
    case 424: "Failed Dependency"
    case 428: "Precondition Required"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    default: status < 400 ? "OK" : "Error"
    }
  }
}
