import FerryModel

/// Values that the model lists become members of a type of their own.
extension EntityRenderer {
  /// The Swift type of an attribute in this entity.
  func type(of position: Int) -> String {
    let attribute = entity.attributes[position]
    let mark = attribute.isNullable ? "?" : ""
    if let names = listed[position] { return "\(entity.name).\(names.type)\(mark)" }
    guard isAssigned(position) else { return SwiftLiteral.type(of: attribute) }
    return "Ferry.AssignedKey<\(SwiftLiteral.type(attribute.type))>\(mark)"
  }

  /// `Booking.Cabin`, one for each attribute with a list.
  var listedTypes: [String] {
    listed.sorted { $0.key < $1.key }.map { position, names in
      let attribute = entity.attributes[position]
      let raw = SwiftLiteral.type(attribute.type)
      let members = zip(names.members, attribute.values).map { name, value in
        """
          /// \(SwiftLiteral.comment(value.shown)).
          public static var \(name): Self { Self(\(literal(value))) }
        """
      }
      return """
        /// A value of `\(attribute.name)`: one that the model lists, or another one that the business system
        /// has added since.
        public nonisolated struct \(names.type): Ferry.ListedValue {
          public let rawValue: \(raw)
          /// Takes any value; saving one that the model does not list throws `invalidValue`.
          public init(_ rawValue: \(raw)) { self.rawValue = rawValue }
        \(members.joined(separator: "\n"))
          /// The values that the model lists, in its order.
          public static var allCases: [Self] { [\(names.members.map { ".\($0)" }.joined(separator: ", "))] }
        }
        """
    }
  }

  private func literal(_ value: AttributeValue) -> String {
    switch value {
    case .integer(let number): String(number)
    case .text(let text): SwiftLiteral.text(text)
    default: ".init()"
    }
  }
}
