import FerryConnector
import FerryCrypto
import FerryModel

/// Big values of a business system in memory: its rows hold references, and the contents stand
/// beside the tables, each once.
extension MemoryBusiness {
  /// Keeps a content; what it gives is the value of a row's attribute.
  public func keep(content bytes: [UInt8]) -> AttributeValue {
    let reference = BigReference(
      sizeBytes: Int64(bytes.count), digest: hexadecimal(SHA256Digest.hash(bytes)))
    keep(bytes, as: reference)
    return .text(reference.description)
  }

  /// What a row's value refers to; nil where it is no reference.
  public func content(_ value: AttributeValue) -> [UInt8]? { value.bigReference.flatMap(content) }

  /// The first text that an operation brings and that is none.
  static func wrongText(
    _ operation: ConnectorOperation, _ contents: [BigReference: [UInt8]]
  ) -> Refusal? {
    for position in operation.contents.keys.sorted() {
      let attribute = operation.entity.attributes[position]
      guard attribute.type == .bigString,
        let bytes = operation.contents[position].flatMap({ contents[$0.reference] })
      else { continue }
      var check = TextCheck()
      bytes.withUnsafeBytes { check.take($0) }
      if let wrong = check.finish() { return .wrongText(attribute, at: wrong) }
    }
    return nil
  }

  /// The contents that a group brings, before it is performed.
  func keepContents(of group: [ConnectorOperation]) throws(ConnectorError) {
    for operation in group {
      for content in operation.contents.values where self.content(content.reference) == nil {
        keep(try content.whole(), as: content.reference)
      }
    }
  }
}

extension MemoryConnector {
  public func content(
    _ entity: Entity, key: ObjectKey, position: Int, offset: Int64, count: Int
  ) throws(ConnectorError) -> [UInt8]? {
    guard let row = business.rows(of: entity.name)[key],
      let bytes = business.content(row[position])
    else { return nil }
    return Array(bytes.dropFirst(Int(clamping: offset)).prefix(count))
  }
}
