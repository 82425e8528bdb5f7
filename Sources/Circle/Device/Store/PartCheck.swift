import FerryJSON
import FerryModel

/// Why the parts of a complex value, or of a list of them, cannot be saved: what must have a value,
/// and the limits of strings and decimals, are as with attributes.
struct PartCheck {
  let types: [ComplexType]

  /// `value` is canonical. Nil where every part fits.
  func misfit(_ value: AttributeValue, _ attribute: Attribute) -> AttributeCheck? {
    // What has no type of the model in it is not read.
    guard case .text(let text) = value, type(of: attribute) != nil,
      let node = try? JSONNode.parse(Array(text.utf8))
    else { return nil }
    return misfit(node, attribute, "")
  }

  private func type(of attribute: Attribute) -> ComplexType? {
    guard attribute.type.hasElements else { return nil }
    return types.first { $0.name == attribute.element }
  }

  private func misfit(_ node: JSONNode, _ attribute: Attribute, _ path: String) -> AttributeCheck? {
    switch node.content {
    case .object:
      guard let type = type(of: attribute) else { return nil }
      for part in type.attributes {
        let path = "\(path).\(part.name)"
        guard let value = node[part.name], !value.isNull else {
          if !part.isNullable { return AttributeCheck.missing(part: path) }
          continue
        }
        if let misfit = misfit(value, part, path) { return misfit }
      }
      return nil
    case .array(let elements):
      guard type(of: attribute) != nil else { return nil }
      for (place, element) in elements.enumerated() {
        if let misfit = misfit(element, attribute, "\(path)[\(place)]") { return misfit }
      }
      return nil
    case .string(let text), .number(let text):
      switch attribute.type {
      case .string: return AttributeCheck.beyondLimit(text, attribute, part: path)
      case .decimal:
        guard case .text(let decimal) = attribute.type.canonical(.text(text)) else {
          return AttributeCheck(
            "\(text) is not a decimal of at most \(Attribute.longestDecimal) digits",
            "Set a number with fewer digits and save again.", part: path)
        }
        return AttributeCheck.beyondLimit(decimal, attribute, part: path)
      default: return nil
      }
    case .null, .boolean: return nil
    }
  }
}
