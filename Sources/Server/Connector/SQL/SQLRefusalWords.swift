public import FerryModel

/// The sentences about a rule that an operation broke in a table of a database server.
public struct SQLRefusalWords {
  private let operation: ConnectorOperation
  private let present: (_ position: Int) -> AttributeValue?

  /// `present`: the value that the operation's own row has now; nil where there is none.
  public init(
    _ operation: ConnectorOperation, present: @escaping (_ position: Int) -> AttributeValue?
  ) {
    self.operation = operation
    self.present = present
  }

  /// The attribute of a column of the operation's own table.
  public func attribute(_ column: String) -> Attribute? {
    operation.entity.attributes.first { $0.column == column }
  }

  /// An attribute was to be null and must not be.
  public func notNull(_ attribute: Attribute) -> Refusal {
    Refusal(
      code: 412, message: "\(attribute.name) must have a value.", attribute: attribute.name)
  }

  /// Nil where a column of the unique key is not in the model.
  public func unique(_ columns: [String]) -> Refusal? {
    let attributes = columns.compactMap(attribute)
    guard attributes.count == columns.count, !attributes.isEmpty else { return nil }
    let shown = attributes.map { "\($0.name) \(intended($0).shown)" }.joined(separator: " and ")
    return Refusal(
      code: 412, message: "There is a \(operation.entity.name) with \(shown) already.",
      attribute: attributes[0].name)
  }

  /// `rule`: as the database has it, or its name.
  public func check(_ rule: String, of table: String) -> Refusal {
    let words = Set(
      rule.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
    let named = operation.entity.attributes.filter { words.contains($0.column.lowercased()) }
    let attribute = named.count == 1 ? named[0] : nil
    let value = attribute.map { " (\($0.name) is \(intended($0).shown))" } ?? ""
    return Refusal(
      code: 412, message: "The rule \(rule) of \(table) is not met\(value).",
      attribute: attribute?.name)
  }

  /// Nil where a column of the foreign key is not in the model.
  public func missingParent(_ columns: [String], in parent: String) -> Refusal? {
    let attributes = columns.compactMap(attribute)
    guard attributes.count == columns.count, !attributes.isEmpty else { return nil }
    let shown = attributes.map { "\($0.name) \(intended($0).shown)" }.joined(separator: ", ")
    let verb = attributes.count == 1 ? "does" : "do"
    return Refusal(
      code: 412, message: "\(shown) \(verb) not exist in \(parent).",
      attribute: attributes[0].name)
  }

  /// `count`: how many rows refer to the operation's own; nil where that is not known.
  public func stillNeeded(by child: String, count: String?) -> Refusal {
    let name = "\(operation.entity.name) \(operation.key?.text ?? "")"
    let number =
      switch count {
      case nil: "rows of \(child) refer"
      case "1": "1 row of \(child) refers"
      case let rows?: "\(rows) rows of \(child) refer"
      }
    return Refusal(code: 412, message: "\(name) is still needed: \(number) to it.")
  }

  /// The value that the row was to have.
  private func intended(_ attribute: Attribute) -> AttributeValue {
    guard let position = operation.entity.position(of: attribute.name) else { return .null }
    if let value = operation.changed[position] { return value }
    guard let key = operation.key else { return .null }
    if let place = operation.entity.key.firstIndex(of: position) {
      return key.values(of: operation.entity)?[place] ?? .null
    }
    return present(position) ?? .null
  }
}
