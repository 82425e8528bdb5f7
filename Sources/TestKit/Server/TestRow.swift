public import Ferry
public import FerryModel

/// A row of the business system in a test, read by the names of attributes.
public struct TestRow: Sendable, Equatable, CustomStringConvertible {
  let entity: Entity
  public let values: [AttributeValue]

  init(_ entity: Entity, _ values: [AttributeValue]) {
    self.entity = entity
    self.values = values
  }

  /// The value of an attribute in the type that is asked for, where nothing is lost: a decimal may be
  /// read as a whole number or a text. A programmer's error where the entity has no attribute of that
  /// name, or its value is none of that type.
  public subscript<Member: AttributeConvertible>(_ attribute: String) -> Member {
    guard let position = entity.position(of: attribute) else {
      preconditionFailure("\(entity.name) has no attribute \(attribute)")
    }
    let value = values[position]
    guard let member = Member.converted(value) else {
      preconditionFailure(
        "\(entity.name).\(attribute) is a \(entity.attributes[position].type.rawValue): "
          + "\(value.shown) cannot be read as \(Member.self); ask for a type that holds it, as in "
          + "row[\"\(attribute)\"] as Decimal")
    }
    return member
  }

  public var description: String {
    let pairs = zip(entity.attributes, values).map { "\($0.name): \($1.shown)" }
    return "\(entity.name)(\(pairs.joined(separator: ", ")))"
  }
}

extension Entity {
  /// By the values of the key, as a query would sort them.
  func isOrdered(_ row: [AttributeValue], before other: [AttributeValue]) -> Bool {
    for position in key {
      let order = row[position].order(to: other[position], attributes[position].type) ?? 0
      if order != 0 { return order < 0 }
    }
    return false
  }

  /// A whole row of what a test gave by name.
  func row(
    _ given: [String: any AttributeConvertible], _ keep: ([UInt8]) -> AttributeValue
  ) throws(FerryError) -> [AttributeValue] {
    var row = [AttributeValue](repeating: .null, count: attributes.count)
    try put(given, into: &row, keep)
    for (position, attribute) in attributes.enumerated() where row[position].isNull {
      guard attribute.isNullable else {
        throw FerryError(
          .invalidValue, "the row of \(name) has no \(attribute.name)",
          hint: "Give a value for it; the model says it is never null.")
      }
    }
    return row
  }

  /// Replaces what is named; `keep` takes the content of a big value.
  func put(
    _ given: [String: any AttributeConvertible], into row: inout [AttributeValue],
    _ keep: ([UInt8]) -> AttributeValue
  ) throws(FerryError) {
    for (attribute, member) in given.sorted(by: { $0.key < $1.key }) {
      guard let position = position(of: attribute) else {
        throw FerryError(
          .unknownName, "\(name) has no attribute \(attribute)",
          hint: "It has \(attributes.map(\.name).joined(separator: ", ")).")
      }
      switch (attributes[position].type, member.value) {
      case (.bigBinary, .bytes(let bytes)):
        row[position] = keep(bytes)
        continue
      case (.bigString, .text(let text)):
        row[position] = keep(Array(text.utf8))
        continue
      default: break
      }
      guard let value = attributes[position].type.canonical(member.value) else {
        throw FerryError(
          .invalidValue,
          "\(name).\(attribute) cannot be \(member.value.shown)",
          hint: "Its type is \(attributes[position].type.rawValue).")
      }
      row[position] = value
    }
  }
}
