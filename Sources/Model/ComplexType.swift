/// A value of several parts that an attribute can have: an address, an amount with its currency.
///
/// It stands in one column as JSON, and has no key and no life of its own.
public struct ComplexType: Sendable, Hashable {
  /// An identifier: the name of the Swift type.
  public let name: String
  /// Its parts; each of them has a `column` that nobody uses.
  public let attributes: [Attribute]

  public init(name: String, attributes: [Attribute]) {
    self.name = name
    self.attributes = attributes
  }
}

/// A query that the model names: objects of one entity by a condition in SQL.
public struct ObjectQuery: Sendable, Hashable {
  /// An identifier: the name of the Swift function.
  public let name: String
  public let parameters: [Parameter]
  /// SQL over the entity's attributes by their names, and `:name` for each parameter; nil: all.
  public let condition: String?
  /// SQL too; nil: by surrogate key.
  public let order: String?
  /// Whether it gives the first object found, instead of all.
  public let isSingle: Bool

  /// A value that the caller gives.
  public struct Parameter: Sendable, Hashable {
    public let name: String
    public let type: AttributeType
    public let isNullable: Bool

    public init(name: String, type: AttributeType, isNullable: Bool = false) {
      self.name = name
      self.type = type
      self.isNullable = isNullable
    }
  }

  public init(
    name: String, parameters: [Parameter], condition: String?, order: String? = nil,
    isSingle: Bool = false
  ) {
    self.name = name
    self.parameters = parameters
    self.condition = condition
    self.order = order
    self.isSingle = isSingle
  }

  /// What follows the FROM, with `?1`, `?2` … in the order of the parameters.
  public var sql: String {
    let condition = condition.map { "WHERE \(numbered($0)) " } ?? ""
    return condition + "ORDER BY \(order.map(numbered) ?? "_id")"
  }

  /// Names after a colon that are no parameter, quoted texts left alone.
  public var unknownParameters: [String] {
    let known = Set(parameters.map(\.name))
    return [condition, order].compactMap { $0 }.flatMap { text in
      SQLText.parts(of: text).compactMap { part in
        if case .parameter(let name) = part, !known.contains(name) { name } else { nil }
      }
    }
  }

  private func numbered(_ text: String) -> String {
    SQLText.parts(of: text).map { part in
      switch part {
      case .plain(let text): return text
      case .parameter(let name):
        let place = parameters.firstIndex { $0.name == name } ?? 0
        return "?\(place + 1)"
      }
    }.joined()
  }
}

/// SQL as far as its parameters go.
public enum SQLText {
  /// A stretch of SQL, or the name of a parameter without its colon.
  public enum Part: Sendable, Hashable {
    case plain(String)
    case parameter(String)
  }

  /// Quoted texts and names are plain, whatever stands in them.
  public static func parts(of sql: String) -> [Part] {
    var parts: [Part] = []
    var plain = ""
    var quote: Unicode.Scalar?
    let scalars = Array(sql.unicodeScalars)
    var index = 0
    while index < scalars.count {
      let scalar = scalars[index]
      index += 1
      if let open = quote {
        if scalar == open { quote = nil }
      } else if scalar == "'" || scalar == "\"" {
        quote = scalar
      } else if scalar == ":", index < scalars.count, ReservedName.isLetter(scalars[index]) {
        var name = ""
        while index < scalars.count, ReservedName.isLetterOrDigit(scalars[index]) {
          name.unicodeScalars.append(scalars[index])
          index += 1
        }
        if !plain.isEmpty { parts.append(.plain(plain)) }
        plain = ""
        parts.append(.parameter(name))
        continue
      }
      plain.unicodeScalars.append(scalar)
    }
    if !plain.isEmpty { parts.append(.plain(plain)) }
    return parts
  }
}
