import FerryConnector
import FerryModel

/// Whether a row may go into the cache: a device refuses a page that holds one that does not fit.
enum RowCheck {
  static func problem(_ image: RowImage, _ entity: Entity) -> RejectedRow? {
    guard let values = image.values else { return nil }
    func rejected(_ attribute: String, _ reason: String) -> RejectedRow {
      RejectedRow(entity: entity.name, key: image.key.text, attribute: attribute, reason: reason)
    }
    guard values.count == entity.attributes.count else {
      return rejected("", "it has \(values.count) values; the model has \(entity.attributes.count)")
    }
    for (attribute, value) in zip(entity.attributes, values) {
      if value.isNull, !attribute.isNullable {
        return rejected(attribute.name, "it is null; let the model allow null, or correct the row")
      }
      if attribute.type.canonical(value) != value {
        return rejected(
          attribute.name, "\(value.shown) is not a canonical \(attribute.type.rawValue)")
      }
    }
    guard entity.key(of: values) == image.key else {
      return rejected("", "its key is \(entity.key(of: values)), not \(image.key)")
    }
    return nil
  }
}
