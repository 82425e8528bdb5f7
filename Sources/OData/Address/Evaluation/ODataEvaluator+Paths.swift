import FerryOData

extension ODataEvaluator {
  func walk(_ path: ODataPath, _ scope: Scope) throws(AddressFault) -> Result {
    var steps = path.steps[...]
    var result: Result
    switch path.start {
    case .it: result = .entity(scope.it)
    case .this: result = scope.this
    case .root: throw notOffered("$root")
    case .alias(let name): result = try alias(name, scope)
    case .entry:
      if case .name(let name)? = steps.first, let variable = scope.variables[name] {
        result = variable
        steps = steps.dropFirst()
      } else {
        result = .entity(scope.entry)
      }
    }
    for step in steps { result = try self.step(step, from: result, scope) }
    return result
  }

  private func notOffered(_ what: String) -> AddressFault {
    AddressFault(
      .notOffered, "\(what) cannot be evaluated over entries in memory",
      hint: "ask the service")
  }

  private func alias(_ name: String, _ scope: Scope) throws(AddressFault) -> Result {
    // URL Conventions 4.01, 5.3: an alias without a value is null.
    guard let value = aliases.first(where: { $0.name == name })?.value else { return .value(.null) }
    guard !scope.resolving.contains(name) else {
      throw AddressFault(
        .evaluation, "@\(name) is defined by itself", hint: "give the alias a value")
    }
    scope.depth.aliases += 1
    guard scope.depth.aliases <= Depth.mostAliases else {
      throw AddressFault(
        .limit, "more than \(Depth.mostAliases) uses of aliases for one entry",
        hint: "use each alias once, or write its value in its place")
    }
    let inner = scope.inner()
    inner.resolving.append(name)
    return try run(value, inner)
  }

  private func step(
    _ step: ODataPath.Step, from result: Result, _ scope: Scope
  ) throws(AddressFault) -> Result {
    switch step {
    case .name(let name): return try member(name, of: result)
    case .predicate(let predicate): return try member(predicate, of: result, scope)
    case .count(let options):
      guard options.search == nil else { throw notOffered("$search") }
      let members = try options.filter.map { (condition) throws(AddressFault) in
        try filtered(result, condition, scope)
      }
      switch members ?? result {
      case .entities(let entries): return .value(.int32(Int32(clamping: entries.count)))
      case .value(.collection(let values)): return .value(.int32(Int32(clamping: values.count)))
      case .value(.null): return .value(.int32(0))
      default: throw AddressFault(.typeMismatch, "$count needs a collection")
      }
    case .filter(let condition): return try filtered(result, condition, scope)
    case .annotation(let term): throw notOffered("@\(term)")
    case .value: return result
    }
  }

  private func member(_ name: String, of result: Result) throws(AddressFault) -> Result {
    let isType = name.contains(".")
    switch result {
    case .entity(let entry):
      if isType { return isOf(result, EdmTypeReference(name)) ? result : .value(.null) }
      if let link = entry.relatedLink(name) {
        guard let inline = link.inline else {
          if let value = entry[name] { return .value(value) }
          throw AddressFault(
            .evaluation, "\(name) was not delivered with the entity",
            hint: "expand it, then evaluate")
        }
        switch inline {
        case .entry(let inner): return inner.map { .entity($0) } ?? .value(.null)
        case .feed(let feed): return .entities(feed.entries)
        }
      }
      return .value(entry[name] ?? .null)
    case .value(.complex(let complex)):
      if isType { return isOf(result, EdmTypeReference(name)) ? result : .value(.null) }
      return .value(complex[name] ?? .null)
    case .value(.null): return .value(.null)
    case .entities(let entries) where isType:
      return .entities(entries.filter { isOf(.entity($0), EdmTypeReference(name)) })
    case .value(.collection(let values)) where isType:
      return .value(.collection(values.filter { isOf(.value($0), EdmTypeReference(name)) }))
    default:
      throw AddressFault(
        .typeMismatch, "this value has no \(name)", hint: "query its members with any")
    }
  }

  /// A key; functions of the service are not known here.
  private func member(
    _ predicate: ODataPredicate, of result: Result, _ scope: Scope
  ) throws(AddressFault) -> Result {
    guard case .entities(let entries) = result, case .named(let parts) = predicate,
      !parts.isEmpty
    else { throw notOffered("a function or key in parentheses") }
    for entry in entries {
      var isIt = true
      for part in parts {
        let wanted = try value(part.value, scope)
        if try !isEqual(entry[part.name] ?? .null, wanted) { isIt = false }
      }
      if isIt { return .entity(entry) }
    }
    return .value(.null)
  }

  private func filtered(
    _ result: Result, _ condition: ODataExpression, _ scope: Scope
  ) throws(AddressFault) -> Result {
    switch result {
    case .entities(let entries):
      var kept: [ODataEntry] = []
      for entry in entries {
        let inner = scope.inner()
        inner.entry = entry
        inner.this = .entity(entry)
        if case .value(.boolean(true)) = try run(condition, inner) { kept.append(entry) }
      }
      return .entities(kept)
    case .value(.collection(let values)):
      var kept: [EdmValue] = []
      for value in values {
        let inner = scope.inner()
        inner.this = .value(value)
        if case .complex(let complex) = value { inner.entry = ODataEntry(complex.properties) }
        if case .value(.boolean(true)) = try run(condition, inner) { kept.append(value) }
      }
      return .value(.collection(kept))
    case .value(.null): return .value(.null)
    default: throw AddressFault(.typeMismatch, "$filter needs a collection")
    }
  }

  func isOf(_ result: Result, _ type: EdmTypeReference) -> Bool {
    if type.isCollection {
      let member = EdmTypeReference(type.name)
      switch result {
      case .entities(let entries): return entries.allSatisfy { isOf(.entity($0), member) }
      case .value(.collection(let values)): return values.allSatisfy { isOf(.value($0), member) }
      default: return false
      }
    }
    let name: String?
    switch result {
    case .entity(let entry): name = entry.type
    case .entities: return false
    case .value(.complex(let complex)): name = complex.type
    case .value(.collection): return false
    case .value(.enumeration(_, let own)): name = own
    case .value(.null): return false
    case .value(let value): name = value.primitive?.rawValue
    }
    guard let name else { return false }
    if let metadata { return metadata.isType(name, derivedFrom: type.name) }
    return name == type.name || name.hasSuffix("." + type.name)
  }
}
