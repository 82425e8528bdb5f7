import FerryOData

/// A refusal on its way out. One pointer instead of a hundred bytes at each `try`, for the parser
/// recurses, and its frames must be small.
final class AddressFault: Error {
  let error: ODataError
  init(_ error: ODataError) { self.error = error }

  init(_ code: ODataError.Code, _ message: String, hint: String? = nil) {
    error = ODataError(code, message, hint: hint ?? "change the expression")
  }
}

/// Reads an address; recursive descent in which everything that nests is counted.
///
/// A class, because unoptimised code copies a struct at each call.
final class AddressParser {
  let address: [UInt8]
  let settings: ODataAddressSettings
  /// The piece that is read, and how far.
  var text: AddressText
  var position = 0
  /// `path`, or the option that is read: it stands in errors.
  var part = ""
  var depth = 0
  /// How high the tree of the last expression is.
  var height = 0
  var nodes = 0
  /// Operators whose right side is not read yet.
  var waiting: [Waiting] = []
  /// Variables of the lambdas around.
  var variables: [String] = []
  /// Where the parentheses of the last segment stand.
  var predicateColumns: [Int32] = []
  /// `$metadata` or `$batch`, which take hardly any options; nil for any other address.
  var optionless: String?
  /// Whether columns must be counted.
  var hasHighBytes = false

  init(_ address: [UInt8], _ settings: ODataAddressSettings) {
    self.address = address
    self.settings = settings
    text = AddressText(plain: [])
  }

  var version: ODataVersion { settings.version }
  var isOld: Bool { settings.version < .v4 }
  var limits: ODataAddressLimits { settings.limits }

  func failure(
    _ message: String, at place: Int? = nil, _ hint: String? = nil,
    code: ODataError.Code = .address
  ) -> AddressFault {
    let index = min(place ?? position, text.bytes.count)
    return failure(message, inAddressAt: Int(text.origins[index]), hint, code: code)
  }

  func failure(
    _ message: String, inAddressAt place: Int, _ hint: String? = nil,
    code: ODataError.Code = .address
  ) -> AddressFault {
    AddressFault(
      ODataError(
        code, message, at: ODataPlace(line: 1, column: column(place), path: part),
        hint: hint ?? "correct the address at this column"))
  }

  /// Characters before a place of the address, and one.
  func column(_ place: Int) -> Int {
    1 + address[..<min(place, address.count)].count { $0 & 0xC0 != 0x80 }
  }

  /// The column of a place in the piece.
  func mark(_ place: Int) -> Int32 {
    let index = text.origins[min(place, text.bytes.count)]
    return hasHighBytes ? Int32(column(Int(index))) : index + 1
  }

  /// Goes one level deeper; what needs more of the stack counts for more.
  func enter(_ weight: Int = 1) throws(AddressFault) {
    depth += weight
    guard depth <= limits.depth else {
      throw failure(
        "more than \(limits.depth) parentheses, options or operators inside each other",
        "write it flatter, or raise depth in ODataAddressLimits", code: .limit)
    }
  }

  func leave(_ weight: Int = 1) { depth -= weight }

  func count() throws(AddressFault) {
    nodes += 1
    guard nodes <= limits.nodes else {
      throw failure(
        "more than \(limits.nodes) operators, names and literals",
        "split the request, or raise nodes in ODataAddressLimits", code: .limit)
    }
  }

  /// The height of a tree whose highest part is as high as this.
  func grow(_ highest: Int) throws(AddressFault) {
    height = highest + 1
    guard height <= limits.depth else {
      throw failure(
        "more than \(limits.depth) operators inside each other",
        "write it flatter, or raise depth in ODataAddressLimits", code: .limit)
    }
  }

  /// Reads the whole text as one expression.
  func wholeExpression() throws(AddressFault) -> ODataExpression {
    try checkLength()
    if let bad = UTF8Check.firstFault(in: address) {
      throw failure("these bytes are not well-formed UTF-8", inAddressAt: bad)
    }
    text = AddressText(plain: address)
    blanks()
    let found = try expression()
    blanks()
    try end()
    return found
  }

  func checkLength() throws(AddressFault) {
    hasHighBytes = address.contains { $0 >= 0x80 }
    guard address.count <= limits.lengthBytes else {
      throw failure(
        "\(address.count) bytes are longer than the \(limits.lengthBytes) that are read",
        inAddressAt: limits.lengthBytes,
        "send the options in the body of $query or $batch, or raise lengthBytes in "
          + "ODataAddressLimits", code: .limit)
    }
  }

  /// Decodes a piece of the address and stands before it.
  func open(_ range: Range<Int>, isQuery: Bool, part: String) throws(AddressFault) {
    self.part = part
    do {
      text = try AddressText(
        decoding: address, range, isQuery: isQuery,
        readsPlusAsBlank: settings.readsPlusAsBlank)
    } catch {
      throw failure(error.message, inAddressAt: error.place, error.hint)
    }
    position = 0
  }
}
