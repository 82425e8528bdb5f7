import FerryModel

/// A content that an operation brings along, for a connector to write into the business system.
public struct ConnectorContent: Sendable, Equatable {
  public let reference: BigReference
  private let source: @Sendable (Int64, Int) throws(ConnectorError) -> [UInt8]

  /// `source` gives at most so many bytes from an offset on, and none behind the end.
  public init(
    _ reference: BigReference,
    source: @escaping @Sendable (_ offset: Int64, _ count: Int) throws(ConnectorError) -> [UInt8]
  ) {
    self.reference = reference
    self.source = source
  }

  /// Gives the content to `body` in stretches of at most 256 KB, in order.
  ///
  /// Throws a transient error where it ends too soon: nothing may be kept of it then.
  public func forEachPiece<Failure: Error>(
    wrap: (ConnectorError) -> Failure, _ body: (Int64, [UInt8]) throws(Failure) -> Void
  ) throws(Failure) {
    var offset: Int64 = 0
    while offset < reference.sizeBytes {
      let bytes: [UInt8]
      do throws(ConnectorError) {
        bytes = try source(offset, ConnectorContent.pieceBytes)
        guard !bytes.isEmpty, offset + Int64(bytes.count) <= reference.sizeBytes else {
          throw ConnectorError(
            "The content ends after \(offset) of \(reference.sizeBytes) bytes",
            hint: "It is tried again.", isTransient: true)
        }
      } catch {
        throw wrap(error)
      }
      try body(offset, bytes)
      offset += Int64(bytes.count)
    }
  }

  /// The whole content, for a business system that takes it only whole.
  public func whole() throws(ConnectorError) -> [UInt8] {
    var all: [UInt8] = []
    all.reserveCapacity(Int(clamping: reference.sizeBytes))
    try forEachPiece(wrap: { $0 }) { _, bytes throws(ConnectorError) in all += bytes }
    return all
  }

  public static let pieceBytes: Int = 256 << 10

  /// Equal references are equal contents.
  public static func == (left: ConnectorContent, right: ConnectorContent) -> Bool {
    left.reference == right.reference
  }
}

extension Connector {
  /// A business system without big values has none to give.
  public func content(
    _ entity: Entity, key: ObjectKey, position: Int, offset: Int64, count: Int
  ) throws(ConnectorError) -> [UInt8]? {
    throw ConnectorError(
      "This connector does not read big values",
      hint:
        "Remove the attribute \(entity.attributes[position].name) of \(entity.name) from the "
        + "model.",
      isTransient: false)
  }
}
