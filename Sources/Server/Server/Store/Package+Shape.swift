import FerryCrypto
import FerryModel

extension Package {
  /// A digest of all that decides how rows look and where they belong.
  package var shape: String {
    var text = id
    for entity in entities {
      text += "\n\(entity.name) \(entity.group) \(entity.key)"
      for attribute in entity.attributes {
        text += "\n  \(attribute.name) \(attribute.type.rawValue) \(attribute.isNullable)"
      }
      if let readers = entity.roles[.read] { text += "\n  read by \(readers)" }
      switch entity.partition {
      case nil: break
      case .columns(let columns):
        for column in columns { text += "\n  by \(column.attribute) \(column.source.text)" }
      case .through(let name):
        if let relationship = entity.relationship(named: name) {
          text += "\n  through \(relationship.target) \(relationship.attributes)"
          text += " \(relationship.targetAttributes)"
        }
      }
      if let window = entity.window {
        text += "\n  window \(window.attribute) \(window.from) \(window.to) \(window.minute)"
        text += " \(window.zone)"
      }
    }
    return hexadecimal(SHA256Digest.hash(Array(text.utf8)))
  }
}
