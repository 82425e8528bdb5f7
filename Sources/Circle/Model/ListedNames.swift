/// The Swift names of a list of values: of their type, and of each value.
package struct ListedNames: Equatable, Sendable {
  /// Inside the entity's type: `Status` for the attribute `status`.
  package let type: String
  /// In the order of the list.
  package let members: [String]

  /// Why there are none: two of them would be the same.
  package struct Clash: Error, Equatable {
    package let problem: String
    package let cure: String
  }

  /// The types of attributes that can have a list.
  package static let types: Set<AttributeType> = [.string, .byte, .short, .int, .long]

  /// `taken`: names that the type cannot have.
  init(_ values: [AttributeValue], of attribute: String, taken: Set<String>) throws(Clash) {
    let name = Naming.upperFirst(attribute)
    // `Type` is a keyword, and an entity may be called like the attribute of another.
    let free = [name, name + "Value"].first {
      ReservedName.clashOfType($0) == nil && !taken.contains($0)
    }
    guard let free else {
      throw Clash(
        problem: "\(name) and \(name)Value are names of other types or members",
        cure: "Give the attribute another \"name\"; \"column\" keeps the name of its column.")
    }
    type = free
    var members: [String] = []
    for value in values {
      let name = ListedNames.member(value)
      if let place = members.firstIndex(of: name) {
        throw Clash(
          problem: "\(values[place].shown) and \(value.shown) would both be \(name)",
          cure: "The list still limits what is saved. For a Swift type, remove one of the two.")
      }
      members.append(name)
    }
    self.members = members
  }

  /// `in progress` -> `inProgress`, `PG-13` -> `pg13`, `+` -> `plusSign`, `2` -> `value2`.
  static func member(_ value: AttributeValue) -> String {
    let name: String
    switch value {
    case .integer(let number):
      name = number < 0 ? "valueMinus\(number.magnitude)" : "value\(number)"
    case .text(let text):
      let made = Naming.memberName(text, fallback: "empty")
      let isDigit = text.unicodeScalars.first { ReservedName.isLetterOrDigit($0) && $0 != "_" }
        .map { !ReservedName.isLetter($0) }
      name = isDigit == true && made.first == "n" ? "value" + made.dropFirst() : made
    default: name = "value"
    }
    return ReservedName.clashOfListed(name) == nil ? name : name + "_"
  }
}

extension Package {
  /// The names for the values that the model lists, by the position of their attribute.
  package func listedNames(of entity: Entity) -> [Int: Result<ListedNames, ListedNames.Clash>] {
    guard entity.attributes.contains(where: { !$0.values.isEmpty }) else { return [:] }
    // What is found from inside of the entity's type by the same name.
    var taken = Set(entities.map(\.name) + complexTypes.map(\.name) + [name])
    taken.formUnion(entity.attributes.map(\.name) + entity.relationships.map(\.name))
    taken.formUnion(entity.queries.map(\.name))
    for other in entities {
      taken.formUnion(
        other.relationships.filter { $0.target == entity.name }.compactMap(\.inverse))
    }
    var found: [Int: Result<ListedNames, ListedNames.Clash>] = [:]
    for (position, attribute) in entity.attributes.enumerated() where !attribute.values.isEmpty {
      do throws(ListedNames.Clash) {
        let names = try ListedNames(attribute.values, of: attribute.name, taken: taken)
        taken.insert(names.type)
        found[position] = .success(names)
      } catch {
        found[position] = .failure(error)
      }
    }
    return found
  }
}
