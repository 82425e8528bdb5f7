public import FerryModel

/// How far the content of one big value is on its way, up or down.
///
/// It is told when a content begins or goes on, at most once for each percent of it, and when it is
/// whole; where the one who hears is slower than the line, only the last is kept. What was there when
/// a line broke or the app was killed stays counted. A content that turns out to be damaged, or was
/// replaced meanwhile, begins again at 0.
public struct BigValueProgress: Sendable, Equatable {
  /// Which way the content goes.
  public enum Direction: Sendable, Hashable {
    /// To the server, behind the operation that names it.
    case upload
    /// To this device, since the app asked for it.
    case download
  }

  public let direction: Direction
  /// Name of the entity.
  public let entity: String
  /// The object's key, a temporary one while the business system has not given another.
  public let key: Key
  public let surrogateKey: Int64
  /// Name of the attribute.
  public let attribute: String
  /// Bytes that have arrived: an upload's on the server by its own word, a download's on the device.
  public let doneBytes: Int64
  /// Bytes in all.
  public let sizeBytes: Int64

  /// For the tests of an app's handler; Ferry makes its own.
  public init(
    direction: Direction, entity: String, key: Key, surrogateKey: Int64, attribute: String,
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

  /// Everything has arrived, and of a download was found to be what the row names. An upload's change
  /// is not answered yet: `onReplaySuccess` or `onReplayFailure` tells of that.
  public var isWhole: Bool { doneBytes == sizeBytes }

  /// From 0 to 1.
  public var fraction: Double { sizeBytes > 0 ? Double(doneBytes) / Double(sizeBytes) : 1 }

  /// Whether one more percent, or the end, was reached.
  package func isWorthTelling(after earlier: Int64?) -> Bool {
    guard let earlier, !isWhole else { return true }
    return earlier * 100 / sizeBytes != doneBytes * 100 / sizeBytes
  }
}
