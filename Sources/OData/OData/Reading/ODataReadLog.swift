/// What a reader has read so far, and how long it took: the performance log of the reference's
/// parser as a value (adr/PAX-8, adr/PBX-10). The caller decides where it goes.
public struct ODataReadLog: Sendable, Hashable, CustomStringConvertible {
  /// Bytes that were read, of those that were pushed.
  public var bytes = 0
  /// Entries that were handed out.
  public var entries = 0
  /// Deleted entries, changed links and values that were handed out.
  public var others = 0
  /// Time spent inside the reader; nil where it was given no clock.
  public var time: Duration?

  /// All counts are 0.
  public init() {}

  /// One line: `43000000 bytes, 50000 entries, 0.21 s`.
  public var description: String {
    let counted = "\(bytes) bytes, \(entries) entries"
    guard let time else { return counted }
    let parts = time.components
    let hundredths = parts.seconds * 100 + parts.attoseconds / 10_000_000_000_000_000
    let rest = hundredths % 100
    return "\(counted), \(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) s"
  }
}
