/// What a row keeps of a big value: how many bytes it has, and their SHA-256. The content itself
/// is kept, sent and asked for apart from the row.
///
/// `20971520:9f86d081…`: the size in decimal digits, a colon, 64 lower-case hexadecimal digits. Equal
/// contents have equal references, so a row tells whether its big value changed without touching it.
public struct BigReference: Sendable, Hashable, CustomStringConvertible {
  public let sizeBytes: Int64
  /// 64 lower-case hexadecimal digits.
  public let digest: String

  /// `digest` is 64 lower-case hexadecimal digits; anything else is a programmer's error.
  public init(sizeBytes: Int64, digest: String) {
    precondition(sizeBytes >= 0 && BigReference.isDigest(digest.utf8), "\(sizeBytes):\(digest)")
    self.sizeBytes = sizeBytes
    self.digest = digest
  }

  /// Nil unless the text is a reference in its one canonical form.
  public init?(_ text: String) {
    // By its bytes: it is asked of every row that has one.
    let sizeCount = text.utf8.count - BigReference.digestDigits - 1
    guard sizeCount > 0 else { return nil }
    let head = text.utf8.prefix(sizeCount)
    let rest = text.utf8.dropFirst(sizeCount)
    guard rest.first == UInt8(ascii: ":"), head.allSatisfy({ (48...57).contains($0) }),
      sizeCount == 1 || head.first != UInt8(ascii: "0"), let size = Int64(Substring(head)),
      BigReference.isDigest(rest.dropFirst())
    else { return nil }
    sizeBytes = size
    digest = String(Substring(rest.dropFirst()))
  }

  public var description: String { "\(sizeBytes):\(digest)" }

  private static let digestDigits = 64

  private static func isDigest(_ text: some Collection<UInt8>) -> Bool {
    text.count == digestDigits
      && text.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}

extension AttributeValue {
  /// The reference that a big value's attribute holds; nil for null and for what is none.
  public var bigReference: BigReference? {
    if case .text(let text) = self { BigReference(text) } else { nil }
  }
}

extension Entity {
  /// Positions of the attributes whose contents are kept apart from the rows.
  public var bigPositions: [Int] { attributes.indices.filter { attributes[$0].type.isBig } }
}
