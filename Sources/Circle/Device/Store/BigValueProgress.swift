public import FerryModel

/// How much of the content of one big value has been sent or downloaded.
///
/// It is reported when a transfer begins or continues, at most once per percent, and when it is
/// complete. If the handler is slower than the transfer, it gets only the latest report. Bytes that
/// arrived before a lost connection or a restart of the app stay counted. A content that is
/// damaged, or was replaced meanwhile, begins again at 0.
public struct BigValueProgress: Sendable, Equatable {
  /// The direction of the transfer.
  public enum Direction: Sendable, Hashable {
    /// To the server, after the operation that names the content.
    case upload
    /// To this device, because the app asked for it.
    case download
  }

  public let direction: Direction
  /// Name of the entity.
  public let entity: String
  /// The object's key; temporary until the business system has given another one.
  public let key: ObjectKey
  public let surrogateKey: Int64
  /// Name of the attribute.
  public let attribute: String
  /// Bytes that have arrived: on the server for an upload, on the device for a download.
  public let doneBytes: Int64
  /// Bytes in all.
  public let sizeBytes: Int64

  /// For the tests of an app's handler; Ferry makes its own.
  public init(
    direction: Direction, entity: String, key: ObjectKey, surrogateKey: Int64, attribute: String,
    doneBytes: Int64, sizeBytes: Int64
  ) {
    self.direction = direction
    self.entity = entity
    self.key = key
    self.surrogateKey = surrogateKey
    self.attribute = attribute
    self.doneBytes = doneBytes
    self.sizeBytes = sizeBytes
  }

  /// Whether all bytes have arrived; a download was also checked against the row's digest. The
  /// change of an upload may still be unanswered: `accepted` or `refused` reports
  /// its answer.
  public var isWhole: Bool { doneBytes == sizeBytes }

  /// From 0 to 1.
  public var fraction: Double { sizeBytes > 0 ? Double(doneBytes) / Double(sizeBytes) : 1 }

  /// Whether one more percent, or the end, was reached.
  package func isWorthTelling(after earlier: Int64?) -> Bool {
    guard let earlier, !isWhole else { return true }
    return earlier * 100 / sizeBytes != doneBytes * 100 / sizeBytes
  }
}
