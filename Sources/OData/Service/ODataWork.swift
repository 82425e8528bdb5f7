import FerryHTTP
import FerryOData
import FerryODataAddress
import Synchronization

/// One request while it is answered.
struct ODataWork: Sendable {
  let service: ODataService
  let call: ODataCall
  let source: any ODataSource
  let budget: ODataBudget
  var metadata: EdmMetadata { service.metadata }
  var limits: ODataServiceLimits { service.limits }
  var options: ODataQueryOptions { call.address.options }

  init(
    _ service: ODataService, _ call: ODataCall, _ source: any ODataSource,
    patience: Duration? = nil
  ) {
    self.service = service
    self.call = call
    self.source = source
    budget = ODataBudget(service.limits, service.uptime, patience ?? service.limits.patience)
  }

  /// What a path leads to.
  enum Target: Sendable {
    /// All entities of a set.
    case set(EdmEntitySet)
    /// Some entities of a set, which are here.
    case entities([ODataEntry], EdmEntitySet)
    /// One entity; nil where a navigation property leads nowhere.
    case entity(ODataEntry?, EdmEntitySet)
    /// A value of an entity's property.
    case value(ODataProperty, path: [String], ODataEntry, EdmEntitySet)
  }

  /// What is at the end of a path beside its target.
  enum Ending: Sendable { case none, count, value, reference }

  /// Walks the path. Throws 404 where an entity on the way is not there.
  func walk() async throws(ODataRefusal) -> (Target, Ending) {
    guard let resolved = call.resolved else { throw .notFound("The address") }
    var target: Target?
    var ending = Ending.none
    let path = call.address.path
    for (index, step) in resolved.steps.enumerated() {
      let segment = path[index]
      switch (step.kind, target) {
      case (.entitySet, nil):
        guard case .name(let name) = segment, let set = metadata.entitySet(name) else {
          throw .notFound("The set")
        }
        target = .set(set)
      case (.key, .set(let set)?):
        // The parts of a key in segments of their own are gathered at the last of them.
        let key = try key(upTo: index, of: set, resolved)
        guard let key else { continue }
        guard let entry = try await source.entry(set, key: key) else {
          throw .notFound("\(set.name)(\(keyText(key)))")
        }
        target = .entity(entry, set)
      case (.key, .entities(let entries, let set)?):
        guard let key = try key(upTo: index, of: set, resolved) else { continue }
        let found = entries.first { entry in key.allSatisfy { entry[$0.name] == $0.value } }
        guard let found else { throw .notFound("\(set.name)(\(keyText(key)))") }
        target = .entity(found, set)
      case (.navigation, .entity(let entry?, let set)?):
        guard case .name(let name) = segment else { throw .notOffered("this address") }
        target = try await follow(name, from: entry, of: set)
      case (.property, .entity(let entry?, let set)?):
        guard case .name(let name) = segment else { throw .notOffered("this address") }
        target = .value(property(name, of: entry), path: [name], entry, set)
      case (.property, .value(let property, let path, let entry, let set)?):
        guard case .name(let name) = segment else { throw .notOffered("this address") }
        let value = property.value.complex?[name] ?? .null
        target = .value(
          ODataProperty(name, value, type: step.type), path: path + [name], entry, set)
      case (.system, .some):
        switch segment {
        case .links: ending = .reference
        case .count: ending = .count
        case .value: ending = .value
        case .ref: ending = .reference
        default: throw .notOffered("a segment such as $filter or $each in a path")
        }
      case (_, .entity(nil, _)?): throw .notFound("The related entity")
      default: throw .notOffered("\(step.kind.rawValue) in this place of an address")
      }
    }
    guard let target else { throw .notFound("The address") }
    return (target, ending)
  }

  private func property(_ name: String, of entry: ODataEntry) -> ODataProperty {
    entry.properties.property(name) ?? ODataProperty(name, .null)
  }

  private func follow(
    _ name: String, from entry: ODataEntry, of set: EdmEntitySet
  ) async throws(ODataRefusal) -> Target {
    let (navigation, target) = try self.navigation(name, from: set)
    let found = try await source.related(
      [entry], of: set, by: navigation, limit: limits.expandedRows)
    let entries = found.first ?? []
    return navigation.type?.isCollection == true
      ? .entities(entries, target) : .entity(entries.first, target)
  }

  /// A navigation property of a set, and the set that it leads to.
  func navigation(
    _ name: String, from set: EdmEntitySet
  ) throws(ODataRefusal) -> (EdmNavigationProperty, EdmEntitySet) {
    guard let type = metadata.entityType(set.entityType),
      let navigation = metadata.navigationProperty(name, of: type)
    else {
      throw ODataRefusal(
        400, "unknownName", "\(set.name) has no navigation property \(name). $metadata lists all.",
        target: name)
    }
    guard let target = metadata.target(of: name, from: set) else {
      throw .notOffered("\(name), which leads to no set,")
    }
    return (navigation, target)
  }

  // Keys.

  /// The key that ends with a segment; nil while parts of it are still to come.
  func key(
    upTo index: Int, of set: EdmEntitySet, _ resolved: ODataResolvedAddress
  ) throws(ODataRefusal) -> ODataProperties? {
    let names = keyNames(of: set)
    switch call.address.path[index] {
    case .predicate(.value(let expression)):
      guard names.count == 1 else { throw badKey(set) }
      return ODataProperties([try keyPart(names[0], expression, set)])
    case .predicate(.named(let parts)):
      var key: [ODataProperty] = []
      for name in names {
        guard let part = parts.first(where: { $0.name == name }) else { throw badKey(set) }
        key.append(try keyPart(name, part.value, set))
      }
      return ODataProperties(key)
    default:
      var first = index
      while first > 0, resolved.steps[first - 1].kind == .key { first -= 1 }
      guard index - first + 1 == names.count else { return nil }
      var key: [ODataProperty] = []
      for (name, segment) in zip(names, call.address.path[first...index]) {
        let text: String
        switch segment {
        case .name(let name): text = name
        case .keySegment(let segment): text = segment
        default: throw badKey(set)
        }
        guard let type = propertyType(name, set),
          let value = EdmValue(text: text, type: type)
        else { throw badKey(set) }
        key.append(ODataProperty(name, value))
      }
      return ODataProperties(key)
    }
  }

  private func badKey(_ set: EdmEntitySet) -> ODataRefusal {
    ODataRefusal(
      400, "badKey",
      "The key of \(set.name) is \(keyNames(of: set).joined(separator: ", ")). Write each part with "
        + "its name where there are several.", target: set.name)
  }

  private func keyPart(
    _ name: String, _ expression: ODataExpression, _ set: EdmEntitySet
  ) throws(ODataRefusal) -> ODataProperty {
    var expression = expression
    if case .path(let path) = expression, case .alias(let alias) = path.start,
      let value = options.alias(alias)
    {
      expression = value
    }
    guard case .literal(let literal) = expression, let type = propertyType(name, set),
      let value = literal.converted(to: type)
    else {
      throw ODataRefusal(
        400, "badKey",
        "The value of \(name) in the key of \(set.name) is none of its type. "
          + "$metadata tells the type.", target: name)
    }
    return ODataProperty(name, value)
  }

  func keyNames(of set: EdmEntitySet) -> [String] {
    metadata.entityType(set.entityType).map { metadata.keys(of: $0).map(\.name) } ?? []
  }

  func propertyType(_ name: String, _ set: EdmEntitySet) -> EdmPrimitive? {
    metadata.entityType(set.entityType).flatMap { metadata.property(name, of: $0) }
      .flatMap { metadata.primitive($0.type.name) }
  }

  func keyText(_ key: ODataProperties) -> String {
    if key.count == 1, let only = key.first { return only.value.literal(call.version) }
    return key.map { "\($0.name)=\($0.value.literal(call.version))" }.joined(separator: ",")
  }

  /// The address of an entity.
  func address(of key: ODataProperties, in set: EdmEntitySet) -> String {
    let parts = key.map { property in
      PercentEncoding.encode(property.value.literal(call.version), keeping: "'")
    }
    let text =
      key.count == 1
      ? parts[0] : zip(key, parts).map { "\($0.name)=\($1)" }.joined(separator: ",")
    return "\(call.root)\(set.name)(\(text))"
  }

  func key(of entry: ODataEntry, in set: EdmEntitySet) -> ODataProperties {
    ODataProperties(keyNames(of: set).map { ODataProperty($0, entry[$0] ?? .null) })
  }

  var evaluator: ODataEvaluator {
    var evaluator = ODataEvaluator(
      metadata: metadata, now: service.now(), aliases: options.aliases)
    evaluator.isOver = { [budget] in budget.isOver }
    return evaluator
  }

  /// Why something could not be computed: that the time is over, or what is wrong with it.
  func refusal(_ error: ODataError) -> ODataRefusal {
    error.code == .limit && budget.isOver
      ? budget.tooLong("What is asked for") : ODataRefusal(error)
  }
}

extension EdmValue {
  /// A literal as a value of another type, where nothing is lost: `5` is a Byte, a Decimal or a Double.
  func converted(to type: EdmPrimitive) -> EdmValue? {
    if primitive == type { return self }
    if let whole = integer ?? decimalWhole {
      switch type {
      case .byte: return UInt8(exactly: whole).map { .byte($0) }
      case .sbyte: return Int8(exactly: whole).map { .sbyte($0) }
      case .int16: return Int16(exactly: whole).map { .int16($0) }
      case .int32: return Int32(exactly: whole).map { .int32($0) }
      case .int64: return .int64(whole)
      case .decimal: return .decimal(EdmDecimal(whole))
      case .single: return .single(Float(whole))
      case .double: return .double(Double(whole))
      default: return nil
      }
    }
    switch (self, type) {
    case (.single, .decimal), (.double, .decimal), (.decimal, .double), (.decimal, .single),
      (.single, .double), (.double, .single):
      return EdmValue(text: text, type: type)
    case (.string(let text), .guid), (.string(let text), .duration):
      return EdmValue(text: text, type: type)
    case (.date, .dateTimeOffset): return EdmValue(text: text + "T00:00:00Z", type: type)
    default: return nil
    }
  }

  private var decimalWhole: Int64? {
    if case .decimal(let value) = self { Int64(value.text) } else { nil }
  }
}
