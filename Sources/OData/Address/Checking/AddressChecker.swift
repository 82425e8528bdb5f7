import FerryOData

/// Walks an address along the metadata.
final class AddressChecker {
  let metadata: EdmMetadata
  let address: ODataAddress
  var current: EdmTypeReference?
  var set: EdmEntitySet?
  /// What `$count` at the end counts: options ask its members.
  var counted: EdmTypeReference?
  /// Of a key that is written as segments, the parts that are still to come.
  var keyParts: [EdmKeyReference] = []
  var part = "path"
  /// Of the function before, the parameters of each overload that fits; nil where none is known.
  var overloads: [[EdmParameter]]?
  /// Types of the variables of lambdas around, and names that `$compute` made.
  var variables: [String: EdmTypeReference?] = [:]
  var computed: Set<String> = []

  init(_ metadata: EdmMetadata, _ address: ODataAddress) {
    self.metadata = metadata
    self.address = address
  }

  typealias Step = ODataResolvedAddress.Step

  func fault(
    _ code: ODataError.Code, _ message: String, at column: Int?, _ hint: String
  ) -> AddressFault {
    AddressFault(
      ODataError(
        code, message, at: ODataPlace(line: 1, column: column ?? 1, path: part), hint: hint))
  }

  /// The nearest of some names, as a cure for a slip.
  func cure(_ name: String, among names: [String]) -> String {
    if let same = names.first(where: { $0.lowercased() == name.lowercased() }) {
      return "write \(same)"
    }
    let known = names.sorted().prefix(8).joined(separator: ", ")
    return known.isEmpty ? "the metadata declares no names there" : "the metadata declares \(known)"
  }

  /// The type as an entity or complex type.
  func structure(_ type: EdmTypeReference?) -> EdmStructuredType? {
    type.flatMap { metadata.structuredType($0.name) }
  }

  func path() throws(AddressFault) -> [Step] {
    var steps: [Step] = []
    for (index, segment) in address.path.enumerated() {
      let kind = try step(segment, index, steps)
      steps.append(Step(kind: kind, type: current))
    }
    if let next = keyParts.first {
      throw fault(
        .address, "the key ends before \(next.name)", at: address.columns[address.path.count - 1],
        "give all parts of the key, each as a segment, in the order of the metadata")
    }
    return steps
  }

  private func step(
    _ segment: ODataSegment, _ index: Int, _ before: [Step]
  ) throws(AddressFault) -> ODataResolvedAddress.Kind {
    let column = address.columns[index]
    if !keyParts.isEmpty {
      switch segment {
      case .name(let text), .keySegment(let text): return try keySegment(text, column)
      default:
        throw fault(
          .address, "the key ends before \(keyParts[0].name)", at: column,
          "give all parts of the key, each as a segment, in the order of the metadata")
      }
    }
    if index > 0, let found = try behindSystem(address.path[index - 1], segment, column) {
      return found
    }
    switch segment {
    case .name(let name):
      return index == 0 || before.last?.kind == .system && address.path[index - 1] == .all
        ? try root(name, column) : try member(name, column, index)
    case .predicate(let predicate): return try self.predicate(predicate, column, before.last)
    case .keySegment(let text): return try keySegment(text, column)
    case .count:
      guard current?.isCollection == true else {
        throw fault(.typeMismatch, "$count counts a collection", at: column, "remove the key")
      }
      counted = current
      current = EdmTypeReference("Edm.Int64")
    case .value:
      if let type = current, metadata.complexType(type.name) != nil || type.isCollection {
        throw fault(
          .typeMismatch, "$value needs a single value, not \(type)", at: column,
          "name one of its properties")
      }
    case .filter(let condition):
      part = "path"
      try self.condition(condition, current?.element, column)
    case .crossjoin(let sets):
      for set in sets where metadata.entitySet(set) == nil {
        throw unknown(set, "set", column, metadata.entitySets.map(\.name))
      }
      current = nil
    case .metadata, .batch, .entity, .all: current = nil
    case .ref, .links, .each, .query: break
    }
    return .system
  }

  /// What stands behind `$entity`, which is a type, and behind `$each`, which is bound to a member.
  private func behindSystem(
    _ before: ODataSegment, _ segment: ODataSegment, _ column: Int?
  ) throws(AddressFault) -> ODataResolvedAddress.Kind? {
    guard case .name(let name) = segment else { return nil }
    switch before {
    case .entity:
      guard metadata.entityType(name) != nil else { throw unknown(name, "entity type", column, []) }
      current = EdmTypeReference(metadata.resolve(name))
      return .type
    case .each:
      guard name.contains("."), let members = current else {
        throw fault(
          .address, "\(name) behind $each", at: column, "name an action or function, qualified")
      }
      return try qualified(name, members.element, column)
    default: return nil
    }
  }

  func unknown(
    _ name: String, _ what: String, _ column: Int?, _ names: [String]
  ) -> AddressFault {
    fault(.unknownName, "there is no \(what) \(name)", at: column, cure(name, among: names))
  }

  private func root(
    _ name: String, _ column: Int?
  ) throws(AddressFault) -> ODataResolvedAddress.Kind {
    if name.contains("."), metadata.structuredType(name) != nil {
      current = EdmTypeReference(metadata.resolve(name), isCollection: true)
      return .type
    }
    if let found = metadata.entitySets.first(where: { $0.name == name }) {
      set = found
      current = EdmTypeReference(found.entityType, isCollection: true)
      return .entitySet
    }
    if let found = metadata.singleton(name) {
      current = EdmTypeReference(found.type)
      return .singleton
    }
    if let found = metadata.functionImport(name) {
      set = found.entitySet.flatMap { metadata.entitySet($0) }
      let functions = found.function.map { metadata.operations($0) } ?? []
      current = found.returnType?.type ?? functions.first?.returnType?.type
      let plain = functions.filter { !$0.isBound }.map(\.parameters)
      overloads = found.function == nil ? [found.parameters] : plain.isEmpty ? nil : plain
      if metadata.version < .v4 { try parameters(ofOld: found, column) }
      return .function
    }
    if let found = metadata.actionImport(name) {
      current = metadata.operations(found.action).first?.returnType?.type
      return .action
    }
    let containers = metadata.containers
    let names =
      containers.flatMap(\.entitySets).map(\.name) + containers.flatMap(\.singletons).map(\.name)
      + containers.flatMap(\.functionImports).map(\.name)
    throw unknown(name, "set, singleton or function", column, names)
  }

  private func member(
    _ name: String, _ column: Int?, _ index: Int
  ) throws(AddressFault) -> ODataResolvedAddress.Kind {
    guard let type = current else {
      throw fault(.address, "\(name) follows nothing that has parts", at: column, "end the path")
    }
    if name.contains(".") { return try qualified(name, type, column) }
    guard let structure = structure(type) else {
      throw unknown(name, "part of \(type)", column, [])
    }
    let isLink = index > 0 && address.path[index - 1] == .links
    if let found = metadata.navigationProperty(name, of: structure), !type.isCollection {
      set = set.flatMap { metadata.target(of: name, from: $0) }
      current = found.type
      return .navigation
    }
    if let found = metadata.property(name, of: structure), !type.isCollection, !isLink {
      current = found.type
      return .property
    }
    if type.isCollection, metadata.entityType(type.name) != nil, metadata.version >= .v4 {
      return try keySegment(name, column)
    }
    if metadata.isOpen(structure), !type.isCollection, !isLink {
      current = nil
      return .property
    }
    if type.isCollection {
      throw fault(
        .address, "\(name) of a collection", at: column, "name one member by its key before it")
    }
    throw unknown(name, "property of \(type.name)", column, names(of: structure))
  }

  func names(of structure: EdmStructuredType) -> [String] {
    metadata.properties(of: structure).map(\.name)
      + metadata.navigationProperties(of: structure).map(\.name)
  }

  private func qualified(
    _ name: String, _ type: EdmTypeReference, _ column: Int?
  ) throws(AddressFault) -> ODataResolvedAddress.Kind {
    if metadata.structuredType(name) != nil {
      try derives(name, type, column)
      current = EdmTypeReference(metadata.resolve(name), isCollection: type.isCollection)
      return .type
    }
    let overloads = metadata.operations(name).filter(\.isBound)
    guard let first = overloads.first else {
      throw unknown(name, "type, function or action", column, [])
    }
    let fitting = overloads.filter { operation in
      guard let binding = operation.parameters.first?.type else { return false }
      return binding.isCollection == type.isCollection
        && metadata.isType(type.name, derivedFrom: binding.name)
    }
    guard let operation = fitting.first else {
      throw fault(
        .typeMismatch, "\(name) is not bound to \(type)", at: column,
        "call it on \(first.parameters.first.map { "\($0.type)" } ?? "another type")")
    }
    current = operation.returnType?.type
    self.overloads = fitting.map { Array($0.parameters.dropFirst()) }
    return operation.isFunction ? .function : .action
  }

  private func keySegment(
    _ text: String, _ column: Int?
  ) throws(AddressFault) -> ODataResolvedAddress.Kind {
    guard let type = current, type.isCollection else {
      throw fault(
        .address, "\(text) follows nothing that has members", at: column, "end the path before it")
    }
    guard let structure = metadata.entityType(type.name) else {
      current = type.element
      guard Int(text) != nil else {
        throw fault(.address, "\(text) is not an ordinal", at: column, "count the members from 0")
      }
      return .ordinal
    }
    if keyParts.isEmpty { keyParts = metadata.keys(of: structure) }
    if let part = keyParts.first, let primitive = keyType(part, structure) {
      guard primitive == .string || EdmValue(text: text, type: primitive) != nil else {
        throw fault(
          .typeMismatch, "\(text) is not an \(primitive.rawValue), as the key is", at: column,
          "give the key its type")
      }
    }
    keyParts = Array(keyParts.dropFirst())
    if keyParts.isEmpty { current = type.element }
    return .key
  }
}

/// Primitive types that compare with each other.
enum TypeFamily: Hashable {
  case number, text, truth, guid, date, moment, time, span, bytes, shape, other

  init(_ type: EdmPrimitive) {
    switch type {
    case .byte, .sbyte, .int16, .int32, .int64, .single, .double, .decimal: self = .number
    case .string: self = .text
    case .boolean: self = .truth
    case .guid: self = .guid
    case .date: self = .date
    case .dateTime, .dateTimeOffset: self = .moment
    case .timeOfDay: self = .time
    case .time, .duration: self = .span
    case .binary, .stream: self = .bytes
    default: self = type.isSpatial ? .shape : .other
    }
  }
}
