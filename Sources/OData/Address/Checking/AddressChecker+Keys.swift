import FerryOData

/// What stands in parentheses: keys, alternate keys, and the parameters of functions.
extension AddressChecker {
  func keyType(_ key: EdmKeyReference, _ structure: EdmStructuredType) -> EdmPrimitive? {
    var structure = structure
    let names = key.name.split(separator: "/").map(String.init)
    for name in names.dropLast() {
      guard let next = metadata.property(name, of: structure).flatMap({ self.structure($0.type) })
      else { return nil }
      structure = next
    }
    return metadata.property(names.last ?? "", of: structure).flatMap {
      metadata.primitive($0.type.name)
    }
  }

  /// A key behind entities, parameters behind a function.
  func predicate(
    _ predicate: ODataPredicate, _ column: Int?, _ before: Step?
  ) throws(AddressFault) -> ODataResolvedAddress.Kind {
    if before?.kind == .function {
      if let overloads { try parameters(predicate, overloads, column) }
      overloads = nil
      return .parameters
    }
    guard let type = current, type.isCollection, let structure = metadata.entityType(type.name)
    else {
      throw fault(
        .address, "parentheses are allowed only after a collection", at: column,
        "remove the parentheses")
    }
    current = type.element
    try key(predicate, of: structure, column)
    return .key
  }

  private func key(
    _ predicate: ODataPredicate, of structure: EdmStructuredType, _ column: Int?
  ) throws(AddressFault) {
    let keys = metadata.keys(of: structure)
    guard !keys.isEmpty else { return }
    switch predicate {
    case .value(let value):
      guard keys.count == 1 else {
        throw fault(
          .address, "the key of \(structure.name) has \(keys.count) parts", at: column,
          "name them: (\(keys.map { "\($0.alias ?? $0.name)=…" }.joined(separator: ",")))")
      }
      try keyValue(value, keyType(keys[0], structure), keys[0].name, column)
    case .named(let values):
      let given = Set(values.map(\.name))
      let all = [keys] + alternateKeys(of: structure)
      guard let meant = all.first(where: { Set($0.map { $0.alias ?? $0.name }) == given }) else {
        let known = all.map { "(\($0.map { $0.alias ?? $0.name }.joined(separator: ",")))" }
        throw fault(
          .unknownName,
          "(\(given.sorted().joined(separator: ","))) is not a key of \(structure.name)",
          at: column,
          known.count == 1
            ? "its key is \(known[0]); others are declared by Core.AlternateKeys"
            : "its keys are \(known.joined(separator: " "))")
      }
      for value in values {
        let key = meant.first { ($0.alias ?? $0.name) == value.name }
        try keyValue(value.value, key.flatMap { keyType($0, structure) }, value.name, column)
      }
    }
  }

  /// The keys that `Core.AlternateKeys` declares at the type, those above it, and the set.
  private func alternateKeys(of structure: EdmStructuredType) -> [[EdmKeyReference]] {
    var annotations = metadata.lineage(of: structure).flatMap {
      metadata.annotations(of: $0.qualifiedName)
    }
    if let set {
      for container in metadata.containers {
        annotations += metadata.annotations(of: "\(container.qualifiedName)/\(set.name)")
      }
    }
    return annotations.filter { $0.term.hasSuffix("Core.V1.AlternateKeys") }
      .flatMap(\.value.elements)
      .map { key in
        (key["Key"]?.elements ?? []).compactMap { reference in
          reference["Name"]?.anyPath.map {
            EdmKeyReference(name: $0, alias: reference["Alias"]?.string)
          }
        }
      }
      .filter { !$0.isEmpty }
  }

  private func keyValue(
    _ value: ODataExpression, _ type: EdmPrimitive?, _ name: String, _ column: Int?
  ) throws(AddressFault) {
    guard case .literal(let literal) = value else { return }
    if literal.isNull {
      throw fault(.typeMismatch, "\(name) is null", at: column, "a key has a value")
    }
    if case .enumeration(let members, let type) = literal {
      return try self.members(members, of: type, column)
    }
    guard let type, let own = literal.primitive else { return }
    if TypeFamily(type) == .number, TypeFamily(own) == .number, !Self.fits(literal, type) {
      throw fault(
        .typeMismatch, "\(name) is \(type.rawValue), which \(literal.text) is not", at: column,
        "write a number of its range, without a fraction")
    }
    guard TypeFamily(type) == TypeFamily(own) else {
      throw fault(
        .typeMismatch, "\(name) is \(type.rawValue), not \(own.rawValue)", at: column,
        type == .string ? "write it in single quotes" : "write a literal of its type")
    }
  }

  /// Whether a number is one of a type of whole numbers; others hold every number.
  private static func fits(_ value: EdmValue, _ type: EdmPrimitive) -> Bool {
    switch type {
    case .byte, .sbyte, .int16, .int32, .int64:
      value.integer.map { EdmValue(text: String($0), type: type) != nil } ?? false
    default: true
    }
  }

  /// Parameters in parentheses: their names choose the overload, then their types are compared.
  private func parameters(
    _ predicate: ODataPredicate, _ overloads: [[EdmParameter]], _ column: Int?
  ) throws(AddressFault) {
    guard case .named(let values) = predicate else {
      throw fault(
        .address, "a parameter without a name", at: column,
        "name it: \(overloads.map(Self.call).joined(separator: " or "))")
    }
    let given = Set(values.map(\.name))
    let meant = overloads.first { parameters in
      given.isSubset(of: parameters.map(\.name))
        && parameters.allSatisfy { given.contains($0.name) || Self.isOptional($0) }
    }
    guard let meant else {
      throw fault(
        .unknownName, "the function has no parameters (\(given.sorted().joined(separator: ",")))",
        at: column, "write \(overloads.map(Self.call).joined(separator: " or "))")
    }
    for value in values {
      guard let parameter = meant.first(where: { $0.name == value.name }) else { continue }
      try argument(value.value, parameter, column)
    }
  }

  private func argument(
    _ value: ODataExpression, _ parameter: EdmParameter, _ column: Int?
  ) throws(AddressFault) {
    if case .literal(.null) = value { return }
    let isStructured = metadata.structuredType(parameter.type.name) != nil
    if case .literal(let literal) = value, parameter.type.isCollection || isStructured,
      literal.primitive != nil
    {
      throw fault(
        .typeMismatch, "the parameter \(parameter.name) needs a \(parameter.type), not one value",
        at: column,
        "give it an alias: (\(parameter.name)=@p)?@p=\(parameter.type.isCollection ? "[…]" : "{…}")"
      )
    }
    try keyValue(value, metadata.primitive(parameter.type.name), parameter.name, column)
  }

  /// In V2 and V3 parameters are options of the address.
  func parameters(ofOld function: EdmFunctionImport, _ column: Int?) throws(AddressFault) {
    for parameter in function.parameters where parameter.mode == .in {
      guard let text = address.options[custom: parameter.name],
        let type = metadata.primitive(parameter.type.name), !parameter.type.isCollection
      else { continue }
      guard let found = try? ODataExpression(parsing: text, ODataAddressSettings(version: .v2)),
        case .literal(let literal) = found
      else {
        throw fault(
          .typeMismatch, "\(parameter.name)=\(text) is not a literal", at: column,
          type == .string ? "write it in single quotes" : "write a literal of \(type.rawValue)")
      }
      try keyValue(.literal(literal), type, parameter.name, column)
    }
  }

  private static func isOptional(_ parameter: EdmParameter) -> Bool {
    parameter.annotations.contains { $0.term.hasSuffix("Core.V1.OptionalParameter") }
  }

  private static func call(_ parameters: [EdmParameter]) -> String {
    "(\(parameters.map { "\($0.name)=…" }.joined(separator: ",")))"
  }
}
