import FerryModel

/// Makes the Swift type of one complex type.
struct ComplexTypeRenderer {
  let type: ComplexType

  init(_ type: ComplexType) { self.type = type }

  var text: String {
    let parts = type.attributes
    let properties = parts.map { part in
      let comment = part.documentation.map { text in
        DocumentationText.comment(text).split(separator: "\n").map { "  \($0)\n" }.joined()
      }
      return "\(comment ?? "")  public var \(part.name): \(SwiftLiteral.type(of: part))"
    }
    let ordered = parts.filter { !$0.isNullable } + parts.filter(\.isNullable)
    let parameters = ordered.map {
      "    \($0.name): \(SwiftLiteral.type(of: $0))\($0.isNullable ? " = nil" : "")"
    }
    return """
      /// A value of several parts, of the type \(type.name).
      public nonisolated struct \(type.name): Ferry.ComplexValue {
      \(properties.joined(separator: "\n"))

        public init(
      \(parameters.joined(separator: ",\n"))
        ) {
      \(parts.map { "    self.\($0.name) = \($0.name)" }.joined(separator: "\n"))
        }

        public init(parts: Ferry.ComplexParts) {
      \(parts.map { "    \($0.name) = parts.get(\(SwiftLiteral.text($0.name)))" }.joined(separator: "\n"))
        }

        public var parts: Ferry.ComplexParts {
          var parts = Ferry.ComplexParts()
      \(parts.map { "    parts.set(\(SwiftLiteral.text($0.name)), \($0.name))" }.joined(separator: "\n"))
          return parts
        }
      }
      """
  }
}
