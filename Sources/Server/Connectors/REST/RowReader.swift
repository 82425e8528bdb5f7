import FerryConnector
import FerryJSON
import FerryModel

/// Rows of an entity as the service gives them.
struct RowReader {
  let entity: Entity
  let form: RESTMapping.Form

  /// The row of an object, or why it is none.
  func image(_ node: JSONNode) -> RowImage {
    var row: [AttributeValue] = []
    row.reserveCapacity(form.values.count)
    for (position, value) in form.values.enumerated() {
      var reason: String?
      switch value.path.find(in: node) {
      case .node(let found):
        if let known = value.attribute(found),
          !known.isNull || entity.attributes[position].isNullable
        {
          row.append(known)
          continue
        }
        reason = RowReader.misfit(found, entity.attributes[position])
      case .nothing:
        if entity.attributes[position].isNullable {
          row.append(.null)
          continue
        }
        reason =
          "the object has nothing at \(value.path), and the model says it is never empty; correct "
          + "the path in the mapping, or make the attribute nullable"
      case .twice(let name):
        reason = "the object has \(name) twice, and which of them counts is not known"
      }
      let key = entity.key.map { $0 < row.count ? row[$0] : nil }
      return RowImage(
        RejectedRow(entity, keyValues: key, at: position, reason: reason ?? "it does not fit"),
        key: ObjectKey(key.compactMap { $0 }))
    }
    return RowImage(entity: entity.name, key: entity.key(of: row), values: row)
  }

  private static func misfit(_ node: JSONNode, _ attribute: Attribute) -> String {
    if node.isNull {
      return "it is null and the model says it never is; fill it at the service, or make the "
        + "attribute nullable in the model"
    }
    let shown =
      node.plainText.map { String($0.prefix(60)) } ?? (node.array == nil ? "an object" : "a list")
    return
      "\(shown) is no \(attribute.type.rawValue) in the form that the mapping says; correct the "
      + "form, or make the attribute a string in the model"
  }

  /// Its key alone, where a list names deleted objects.
  func key(_ node: JSONNode, at paths: [JSONPath]) -> ObjectKey? {
    var values: [AttributeValue] = []
    for (position, path) in zip(entity.key, paths) {
      let found = paths.count == 1 && node.plainText != nil ? node : path.node(in: node)
      guard let found, let value = form.values[position].attribute(found), !value.isNull else {
        return nil
      }
      values.append(value)
    }
    return values.count == entity.key.count ? ObjectKey(values) : nil
  }

  /// Whether the service says that the object is deleted.
  func isDeleted(_ node: JSONNode) -> Bool {
    guard case .flag(let path) = form.deletes, let found = path.node(in: node) else { return false }
    switch found.content {
    case .null: return false
    case .boolean(let value): return value
    case .number(let text): return text != "0"
    case .string(let text): return !text.isEmpty && text != "false" && text != "0"
    case .array, .object: return true
    }
  }
}
