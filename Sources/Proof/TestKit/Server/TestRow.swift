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
  /// read as a whole number or a text.
  /// ```swift
  /// #expect(try row["seats"] == 2)
  /// #expect(try row["note"] as String? == nil)
  /// ```
  /// Throws `unknownName` if the entity has no attribute of that name, and `invalidValue` if its value
  /// cannot be read as that type: null only as an optional.
  public subscript<Member: AttributeConvertible>(_ attribute: String) -> Member {
    get throws(FerryError) {
      guard let position = entity.position(of: attribute) else {
        let names = entity.attributes.map(\.name)
        throw FerryError(
          .unknownName, "\(entity.name) has no attribute \(attribute)",
          hint: NearestWord.cure(attribute, among: names), entity: entity.name)
      }
      let value = values[position]
      // Only an optional reads null as null.
      if let member = Member.converted(value), !value.isNull || member.value.isNull {
        return member
      }
      let type = entity.attributes[position].type.rawValue
      throw FerryError(
        .invalidValue,
        "\(entity.name).\(attribute) is \(value.isNull ? "null" : "\(value.shown), a \(type)"), and "
          + "cannot be read as \(Member.self)",
        hint: value.isNull
          ? "Read it as an optional: row[\"\(attribute)\"] as \(Member.self)?."
          : "Ask for a type that holds it, as in row[\"\(attribute)\"] as String.",
        entity: entity.name, attribute: attribute)
    }
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
    for (position, attribute) in attributes.enumerated() {
      if given[attribute.name] == nil, let usual = attribute.defaultValue { row[position] = usual }
    }
    try put(given, into: &row, keep)
    for (position, attribute) in attributes.enumerated() where row[position].isNull {
      guard attribute.isNullable else {
        throw FerryError(
          .invalidValue, "the row of \(name) has no \(attribute.name)",
          hint: "Give a value for it; the model says it is never null.", entity: name,
          attribute: attribute.name)
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
          hint: "It has \(attributes.map(\.name).joined(separator: ", ")).", entity: name)
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
          hint: "Its type is \(attributes[position].type.rawValue).", entity: name,
          attribute: attribute)
      }
      row[position] = value
    }
  }
}
