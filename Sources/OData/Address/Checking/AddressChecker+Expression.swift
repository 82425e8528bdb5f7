import FerryOData

extension AddressChecker {
  /// Where the first name of an expression stands.
  func column(of expression: ODataExpression) -> Int? {
    switch expression {
    case .path(let path): return path.columns[0]
    case .not(let inner), .negate(let inner): return column(of: inner)
    case .and(let parts), .or(let parts), .list(let parts), .array(let parts),
      .call(_, let parts):
      // A lazy map would ask each part twice, and so each level twice as often as the one above.
      for part in parts {
        if let found = column(of: part) { return found }
      }
      return nil
    case .compare(_, let left, let right), .arithmetic(_, let left, let right):
      return column(of: left) ?? column(of: right)
    case .cast(let inner, _), .isOf(let inner, _): return inner.flatMap { column(of: $0) }
    case .lambda(let lambda): return lambda.collection.columns[0]
    default: return nil
    }
  }

  private static let truth = EdmTypeReference("Edm.Boolean")

  /// The type of an expression; nil where it is not known, as that of null.
  func type(
    of expression: ODataExpression, _ element: EdmTypeReference?, _ column: Int?
  ) throws(AddressFault) -> EdmTypeReference? {
    switch expression {
    case .literal(let value):
      if case .enumeration(let members, let type) = value {
        try self.members(members, of: type, column)
        return EdmTypeReference(metadata.resolve(type))
      }
      return value.primitive.map { EdmTypeReference($0.rawValue) }
    case .path(let path): return try type(of: path, element)
    case .not(let inner):
      try condition(inner, element, column)
      return Self.truth
    case .and(let parts), .or(let parts):
      for part in parts { try condition(part, element, column) }
      return Self.truth
    case .negate(let inner): return try type(of: inner, element, column)
    case .compare(let comparison, let left, let right):
      try compare(comparison, left, right, element, column)
      return Self.truth
    case .arithmetic(_, let left, let right):
      return try arithmetic(expression, left, right, element, column)
    case .call(let function, let arguments):
      return try call(function, arguments, element, column)
    case .lambda(let lambda):
      try self.lambda(lambda, element, column)
      return Self.truth
    case .list(let items), .array(let items):
      for item in items { _ = try type(of: item, element, column) }
      return nil
    case .object(let members):
      for member in members { _ = try type(of: member.value, element, column) }
      return nil
    case .cast(let inner, let type), .isOf(let inner, let type):
      if let inner { _ = try self.type(of: inner, element, column) }
      try known(type, column)
      if case .isOf = expression { return Self.truth }
      return EdmTypeReference(metadata.resolve(type.name), isCollection: type.isCollection)
    case .choice(let choices):
      var found: EdmTypeReference?
      for choice in choices {
        try condition(choice.condition, element, column)
        found = try type(of: choice.value, element, column) ?? found
      }
      return found
    }
  }

  private func known(_ type: EdmTypeReference, _ column: Int?) throws(AddressFault) {
    guard type.primitive == nil, metadata.structuredType(type.name) == nil,
      metadata.enumType(type.name) == nil, metadata.typeDefinition(type.name) == nil
    else { return }
    throw unknown(type.name, "type", column, [])
  }

  /// Members of an enumeration: names that are declared, and numbers.
  func members(
    _ members: String, of type: String, _ column: Int?
  ) throws(AddressFault) {
    guard let found = metadata.enumType(type) else {
      throw unknown(type, "enumeration", column, [])
    }
    for member in members.split(separator: ",") where Int64(member) == nil {
      guard found.members.contains(where: { $0.name == member }) else {
        throw unknown(String(member), "member of \(type)", column, found.members.map(\.name))
      }
    }
  }

  private func family(_ type: EdmTypeReference?) -> TypeFamily? {
    guard let type, !type.isCollection, metadata.enumType(type.name) == nil else { return nil }
    return metadata.primitive(type.name).map { TypeFamily($0) }
  }

  private func compare(
    _ comparison: ODataComparison, _ left: ODataExpression, _ right: ODataExpression,
    _ element: EdmTypeReference?, _ column: Int?
  ) throws(AddressFault) {
    let column = self.column(of: left) ?? self.column(of: right) ?? column
    let first = try type(of: left, element, column)
    if comparison == .isIn, case .list(let items) = right {
      for item in items {
        let second = try type(of: item, element, column)
        if try !isBare(item, beside: first, column) { try match(first, second, left, column) }
      }
      return
    }
    let second = try type(of: right, element, column)
    if comparison == .isIn {
      if let second, !second.isCollection {
        throw fault(
          .typeMismatch, "\"in\" needs a list, not \(second)", at: self.column(of: right) ?? column,
          "write (1,2) after it")
      }
      return
    }
    if comparison == .has {
      if let first, metadata.enumType(first.name) == nil {
        throw fault(
          .typeMismatch, "\"has\" needs an enumeration, not \(first)",
          at: self.column(of: left) ?? column,
          "compare with eq")
      }
      _ = try isBare(right, beside: first, column)
      return
    }
    if try isBare(right, beside: first, column) { return }
    if try isBare(left, beside: second, column) { return }
    try match(first, second, left, column)
  }

  /// Whether a text in quotes is a member of an enumeration or a duration, without its prefix, as
  /// 4.01 lets it be written.
  private func isBare(
    _ expression: ODataExpression, beside type: EdmTypeReference?, _ column: Int?
  ) throws(AddressFault) -> Bool {
    guard case .literal(.string(let text)) = expression, let type, !type.isCollection,
      metadata.version >= .v4
    else { return false }
    if metadata.enumType(type.name) != nil {
      try members(text, of: type.name, column)
      return true
    }
    return metadata.primitive(type.name) == .duration
      && EdmValue(text: text, type: .duration) != nil
  }

  private func match(
    _ first: EdmTypeReference?, _ second: EdmTypeReference?, _ left: ODataExpression,
    _ column: Int?
  ) throws(AddressFault) {
    guard let a = family(first), let b = family(second), a != b, let first, let second else {
      return
    }
    throw fault(
      .typeMismatch, "\(first) does not compare with \(second)",
      at: self.column(of: left) ?? column, "give both sides one type, or cast")
  }

  private func arithmetic(
    _ whole: ODataExpression, _ left: ODataExpression, _ right: ODataExpression,
    _ element: EdmTypeReference?, _ column: Int?
  ) throws(AddressFault) -> EdmTypeReference? {
    let first = try type(of: left, element, column)
    let second = try type(of: right, element, column)
    for type in [first, second] {
      guard let family = family(type), let type else { continue }
      guard [.number, .date, .moment, .span].contains(family) else {
        throw fault(
          .typeMismatch, "\(type) is nothing to calculate with",
          at: self.column(of: whole) ?? column,
          "calculate with numbers, times and durations")
      }
    }
    return family(first) == .number && family(second) == .number ? first : nil
  }

  /// Texts, moments and numbers for the functions of texts, moments and numbers.
  private func call(
    _ function: ODataFunction, _ arguments: [ODataExpression], _ element: EdmTypeReference?,
    _ column: Int?
  ) throws(AddressFault) -> EdmTypeReference? {
    var families: [TypeFamily?] = []
    for argument in arguments {
      families.append(family(try type(of: argument, element, column)))
    }
    let (allowed, result): (Set<TypeFamily>, EdmPrimitive?)
    switch function {
    case .contains, .startsWith, .endsWith, .matchesPattern: (allowed, result) = ([.text], .boolean)
    case .length, .indexOf: (allowed, result) = ([.text, .bytes], .int32)
    case .toLower, .toUpper, .trim, .replace: (allowed, result) = ([.text], .string)
    case .concat: (allowed, result) = ([.text], nil)
    case .substring: (allowed, result) = ([.text, .number], nil)
    case .year, .month, .day, .totalOffsetMinutes: (allowed, result) = ([.date, .moment], .int32)
    case .hour, .minute, .second: (allowed, result) = ([.time, .moment, .span], .int32)
    case .fractionalSeconds: (allowed, result) = ([.time, .moment], .decimal)
    case .totalSeconds: (allowed, result) = ([.span], .decimal)
    case .date: (allowed, result) = ([.date, .moment], .date)
    case .time: (allowed, result) = ([.time, .moment], .timeOfDay)
    case .minDateTime, .maxDateTime, .now: (allowed, result) = ([], .dateTimeOffset)
    case .round, .floor, .ceiling: (allowed, result) = ([.number], nil)
    case .geoDistance, .geoLength: (allowed, result) = ([.shape], .double)
    case .geoIntersects: (allowed, result) = ([.shape], .boolean)
    case .hasSubset, .hasSubsequence: (allowed, result) = ([], .boolean)
    }
    for (argument, family) in zip(arguments, families) {
      guard let family, !allowed.isEmpty, !allowed.contains(family) else { continue }
      throw fault(
        .typeMismatch, "\(function.rawValue) does not accept this type",
        at: self.column(of: argument) ?? self.column(of: .call(function, arguments)) ?? column,
        "give it a value of its type, or cast")
    }
    return result.map { EdmTypeReference($0.rawValue) }
  }

  private func lambda(
    _ lambda: ODataLambda, _ element: EdmTypeReference?, _ column: Int?
  ) throws(AddressFault) {
    let collection = try type(of: lambda.collection, element)
    if let collection, !collection.isCollection {
      throw fault(
        .typeMismatch, "\(lambda.quantifier.rawValue) needs a collection, not \(collection)",
        at: lambda.collection.columns[0], "name a collection before it")
    }
    guard let variable = lambda.variable, let predicate = lambda.predicate else { return }
    variables[variable] = .some(collection?.element)
    try condition(predicate, element, column)
    variables[variable] = nil
  }

  private func type(
    of path: ODataPath, _ element: EdmTypeReference?
  ) throws(AddressFault) -> EdmTypeReference? {
    guard path.start == .entry || path.start == .it else {
      guard path.start == .root, case .name(let name)? = path.steps.first else { return nil }
      let isKnown = metadata.entitySets.contains { $0.name == name }
      guard isKnown || metadata.singleton(name) != nil || metadata.functionImport(name) != nil
      else {
        throw unknown(name, "set or singleton", path.columns[0], metadata.entitySets.map(\.name))
      }
      return nil
    }
    var type = path.start == .it ? current?.element ?? element : element
    for (index, step) in path.steps.enumerated() {
      switch step {
      case .name(let name):
        if index == 0, path.start == .entry, let variable = variables[name] {
          type = variable
          continue
        }
        guard let own = type else { return nil }
        if index == 0, computed.contains(name) { return nil }
        if name.contains(".") {
          guard metadata.structuredType(name) != nil else {
            guard metadata.operations(name).isEmpty else { return nil }
            throw unknown(name, "type or function", path.columns[index], [])
          }
          try derives(name, own, path.columns[index])
          type = EdmTypeReference(metadata.resolve(name), isCollection: own.isCollection)
          continue
        }
        type = try member(name, own, path.columns[index])
      case .predicate:
        guard type?.isCollection == true else { return nil }
        type = type?.element
      case .count(let options):
        try self.options(options, type, part + "/")
        return EdmTypeReference("Edm.Int64")
      case .filter(let condition): try self.condition(condition, type?.element, nil)
      case .annotation: return nil
      case .value: break
      }
    }
    return type
  }

  /// A step that is a type asks an instance of another type: it must derive from that.
  func derives(
    _ name: String, _ own: EdmTypeReference, _ column: Int?
  ) throws(AddressFault) {
    guard metadata.isType(name, derivedFrom: own.name) else {
      throw fault(
        .typeMismatch, "\(name) does not derive from \(own.name)", at: column,
        "name a derived type")
    }
  }

  private func member(
    _ name: String, _ own: EdmTypeReference, _ column: Int?
  ) throws(AddressFault) -> EdmTypeReference? {
    guard let structure = structure(own) else {
      throw unknown(name, "part of \(own)", column, [])
    }
    guard !own.isCollection else {
      throw fault(
        .typeMismatch, "a collection has no \(name)", at: column,
        "query its members with any or all")
    }
    if let property = metadata.property(name, of: structure) { return property.type }
    if let property = metadata.navigationProperty(name, of: structure) { return property.type }
    if metadata.isOpen(structure) { return nil }
    throw unknown(name, "property of \(structure.qualifiedName)", column, names(of: structure))
  }
}
