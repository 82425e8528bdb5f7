import FerryModel

/// What a reader sees beside a property in Xcode: the words of the model, then column, type, whether
/// a value is required, and who assigns it.
extension EntityRenderer {
  func documentation(_ position: Int) -> String {
    let attribute = entity.attributes[position]
    let source =
      entity.isOperation || entity.isClientOnly || attribute.isClientOnly
      ? "" : "Column \(SwiftLiteral.comment(attribute.column)), "
    var facts = [shown(attribute), attribute.isNullable ? "optional" : "required"]
    if entity.key.contains(position) {
      facts.append(entity.key.count == 1 ? "the key" : "part of the key")
      switch entity.keyOrigin {
      case .businessSystem: facts.append("assigned by the business system")
      case .device: facts.append("made by the device")
      case .app: break
      }
    }
    if package.refersToGivenKey(entity, position) {
      facts.append("not assigned while it refers to a new object")
    }
    if attribute.defaultValue != nil { facts.append("has a default") }
    if !entity.isClientOnly, attribute.isClientOnly { facts.append("stays on the device") }
    let sentence = source + facts.joined(separator: ", ")
    return documented(
      attribute.documentation, "/// \(sentence.prefix(1).uppercased() + sentence.dropFirst()).")
  }

  /// A paragraph of the model's own words, if it has any, before a line.
  func documented(_ text: String?, _ line: String) -> String {
    DocumentationText.of(comment: text).map { "\(DocumentationText.comment($0))\n///\n\(line)" }
      ?? line
  }

  private func shown(_ attribute: Attribute) -> String {
    switch attribute.type {
    case .string:
      "text" + (attribute.maxLength.map { " of at most \($0) characters" } ?? "")
    case .decimal:
      "decimal"
        + (attribute.precision.map { " of \($0) digits, \(attribute.scale ?? 0) after the point" }
          ?? "")
    case .dateTime: "date and time"
    case .boolean: "true or false"
    case .binary: "bytes"
    case .list: "list" + (attribute.element.map { " of \($0)" } ?? "")
    case .complex: attribute.element ?? "complex"
    case .bigString: "big text"
    case .bigBinary: "big content"
    default: attribute.type.rawValue
    }
  }
}
