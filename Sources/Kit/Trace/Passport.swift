import FerryText
import FerryWorld

/// The ids in a request that let all servers trace it under one id.
///
/// As text it is the header `SAP-PASSPORT`: 230 bytes of version 3, in hexadecimal digits. The
/// vendor publishes which ids a passport has. The layout is ours; it was not compared with a
/// product.
public struct Passport: Sendable, Equatable {
  /// The name of the header that carries it.
  public static let headerName = "SAP-PASSPORT"
  /// The name of the header with the request's id alone.
  public static let correlationHeaderName = "X-CorrelationID"
  /// The size in bytes, before the encoding as hexadecimal digits.
  public static let sizeBytes = 230

  /// The same for a whole session.
  public var rootID: TraceID
  /// A different id for each request.
  public var transactionID: TraceID
  /// The two bytes of trace flags.
  public var flags: [UInt8]
  /// Up to 32 bytes; longer texts are cut.
  public var componentName: String
  /// Up to 40 bytes; longer texts are cut.
  public var action: String
  /// Up to 32 bytes; longer texts are cut.
  public var user: String

  /// A passport of a new session at level medium, unless other values are given.
  public init(
    _ chance: any Chance, rootID: TraceID? = nil, transactionID: TraceID? = nil,
    level: TraceLevel = .medium, componentName: String = "Ferry", action: String = "",
    user: String = ""
  ) {
    self.rootID = rootID ?? TraceID(chance)
    self.transactionID = transactionID ?? TraceID(chance)
    flags = level.flags
    self.componentName = componentName
    self.action = action
    self.user = user
  }

  /// The value of the header `SAP-PASSPORT`, 460 digits.
  public var header: String { Hexadecimal.encode(bytes, isUppercase: true) }

  /// The value of the header `X-CorrelationID`.
  public var correlationID: String { transactionID.hexadecimal }

  private static let eyeCatcher: [UInt8] = Array("*TH*".utf8)

  private var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.sizeBytes)
    bytes += Self.eyeCatcher
    bytes += [3, UInt8(Self.sizeBytes >> 8), UInt8(Self.sizeBytes & 255)]
    bytes += flags
    append(componentName, 32, &bytes)
    // No service.
    bytes += [0, 0]
    append(user, 32, &bytes)
    append(action, 40, &bytes)
    // The type of an HTTP request.
    bytes += [0, 11]
    append(componentName, 32, &bytes)
    bytes += Hexadecimal.encode(transactionID.bytes, isUppercase: true).utf8
    // No client, and a component of no known kind.
    bytes += [0, 0, 0, 0, 0]
    bytes += rootID.bytes
    bytes += transactionID.bytes
    // The first call on the connection, and no further parts.
    bytes += [0, 0, 0, 1, 0, 0, 0, 0]
    return bytes + Self.eyeCatcher
  }

  /// The text as far as whole letters fit, then zeros.
  private func append(_ text: String, _ count: Int, _ bytes: inout [UInt8]) {
    let end = bytes.count + count
    if text.utf8.count <= count {
      bytes += text.utf8
    } else {
      for scalar in text.unicodeScalars {
        let next = String(scalar).utf8
        guard bytes.count + next.count <= end else { break }
        bytes += next
      }
    }
    while bytes.count < end { bytes.append(0) }
  }

  /// Reads the header of a request. Throws `.invalidPassport`.
  public init(header: String) throws(TraceError) {
    guard let bytes = Hexadecimal.decode(header), bytes.count == Self.sizeBytes else {
      throw TraceError(.invalidPassport, "a passport must have 460 hexadecimal digits")
    }
    guard bytes.starts(with: Self.eyeCatcher), Array(bytes.suffix(4)) == Self.eyeCatcher,
      bytes[4] == 3, Int(bytes[5]) << 8 | Int(bytes[6]) == Self.sizeBytes
    else { throw TraceError(.invalidPassport, "the text is not a passport of version 3") }
    let transaction = String(decoding: bytes[149..<181], as: UTF8.self)
    guard let root = TraceID(bytes: Array(bytes[186..<202])),
      let own = TraceID(hexadecimal: transaction)
    else { throw TraceError(.invalidPassport, "an id of the passport is missing") }
    func text(_ range: Range<Int>) -> String {
      String(decoding: bytes[range].prefix { $0 != 0 }, as: UTF8.self)
    }
    rootID = root
    transactionID = own
    flags = Array(bytes[7..<9])
    componentName = text(9..<41)
    user = text(43..<75)
    action = text(75..<115)
  }
}
