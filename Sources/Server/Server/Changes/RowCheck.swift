import FerryConnector
import FerryModel
import FerryWire

/// Whether a row may go into the cache: a device refuses a page that holds one that does not fit.
/// Everything that a connector read is asked about here: by a load, by its key, or after a write.
enum RowCheck {
  static func problem(_ image: RowImage, _ entity: Entity) -> RejectedRow? {
    if let rejected = image.rejected { return rejected }
    guard let values = image.values else { return nil }
    if let rejected = RejectedRow(values, of: entity, key: image.key) { return rejected }
    func rejected(_ attribute: String, _ reason: String) -> RejectedRow {
      RejectedRow(entity: entity.name, key: image.key.text, attribute: attribute, reason: reason)
    }
    if let large = RowCheck.tooLarge(values, entity) {
      return rejected(
        large.attribute.name,
        "the row has \(large.bytes) bytes, and \(WireLimits.rowBytes) fit; shorten the value, or "
          + "make the attribute a \(large.attribute.type == .binary ? "bigBinary" : "bigString") "
          + "in the model")
    }
    guard entity.key(of: values) == image.key else {
      return rejected("", "its key is \(entity.key(of: values)), not \(image.key)")
    }
    return nil
  }

  /// What no frame could bring to a device: the size of such a row, and its largest attribute.
  private static func tooLarge(
    _ values: [AttributeValue], _ entity: Entity
  ) -> (bytes: Int, attribute: Attribute)? {
    var bytes = 0
    for value in values { bytes += size(of: value) }
    guard bytes > WireLimits.rowBytes,
      let largest = values.indices.max(by: { size(of: values[$0]) < size(of: values[$1]) })
    else { return nil }
    return (bytes, entity.attributes[largest])
  }

  private static func size(of value: AttributeValue) -> Int {
    switch value {
    case .text(let text): text.utf8.count
    // In Base64.
    case .bytes(let bytes): bytes.count / 3 * 4
    default: 0
    }
  }
}
