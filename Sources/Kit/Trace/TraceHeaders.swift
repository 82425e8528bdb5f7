/// The ids of a trace in the head of a request: the one reader of all servers.
///
/// A header that is there twice, or that has another form, counts as missing: no id of it may reach a
/// log or another server.
public struct TraceHeaders: Sendable, Equatable {
  /// `traceparent` of W3C, version 00.
  public struct Parent: Sendable, Equatable {
    /// 32 digits in lower case.
    public let traceID: String
    /// 16 digits in lower case.
    public let spanID: String
    /// Whether the caller wants the request traced.
    public let isSampled: Bool
    /// As it came.
    public let text: String
  }

  /// `SAP-PASSPORT` of version 3.
  public let passport: Passport?
  /// The value of `SAP-PASSPORT` of any version, as it came.
  public let passportText: String?
  public let parent: Parent?
  /// `X-CorrelationID`: up to 128 letters, digits, `-`, `_`, `.` and `:`.
  public let correlationID: String?

  /// All values of each header.
  public init(passports: [String], parents: [String], correlations: [String]) {
    let text = TraceHeaders.only(passports).flatMap(TraceHeaders.passport)
    passportText = text
    passport = text.flatMap { try? Passport(header: $0) }
    parent = TraceHeaders.only(parents).flatMap(TraceHeaders.parent)
    correlationID = TraceHeaders.only(correlations).flatMap(TraceHeaders.token)
  }

  private static func only(_ values: [String]) -> String? { values.count == 1 ? values[0] : nil }

  private static func passport(_ text: String) -> String? {
    (64...4_096).contains(text.utf8.count) && text.utf8.allSatisfy(isHexadecimal) ? text : nil
  }

  /// `00-` 32 digits `-` 16 digits `-` 2 digits, in lower case, none of the ids all zeros.
  private static func parent(_ text: String) -> Parent? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard text.utf8.count == 55, parts.map(\.utf8.count) == [2, 32, 16, 2], parts[0] == "00",
      parts.allSatisfy({ $0.utf8.allSatisfy { isHexadecimal($0) && !isUppercase($0) } }),
      parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" }),
      let flags = UInt8(parts[3], radix: 16)
    else { return nil }
    return Parent(
      traceID: parts[1], spanID: parts[2], isSampled: flags & 1 == 1, text: text)
  }

  /// Nil for what could be more than an id in a log or in a header.
  private static func token(_ text: String) -> String? {
    let isGood = text.utf8.allSatisfy { byte in
      isHexadecimal(byte) || (0x67...0x7A).contains(byte) || (0x47...0x5A).contains(byte)
        || "-_.:".utf8.contains(byte)
    }
    return (1...128).contains(text.utf8.count) && isGood ? text : nil
  }

  private static func isUppercase(_ byte: UInt8) -> Bool { (0x41...0x46).contains(byte) }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
    default: false
    }
  }
}
