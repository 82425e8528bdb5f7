import FerryHTTP
import FerryOData
import FerryODataAddress

/// What the body of a change says.
extension ODataWork {
  /// The properties of a body, each known and of its type.
  func properties(
    _ set: EdmEntitySet, key: ODataProperties?, isNew: Bool
  ) throws(ODataRefusal) -> ODataProperties {
    let entry: ODataEntry
    do throws(ODataError) {
      entry = try ODataEntry.read(
        call.request.body,
        ODataReadOptions(
          metadata: metadata, type: set.entityType, isStrict: true, base: call.root,
          version: call.version))
    } catch { throw ODataRefusal(error, isBody: true) }
    guard let type = metadata.entityType(set.entityType) else { throw .notFound("The set") }
    guard entry.links.allSatisfy({ $0.inline == nil || reference($0) != nil }) else {
      throw .notOffered("a deep insert: create the entities one by one. It")
    }
    var properties: [ODataProperty] = []
    for property in entry.properties {
      guard let declared = metadata.property(property.name, of: type) else {
        throw ODataRefusal(
          400, "unknownName",
          "\(set.name) has no property \(property.name). $metadata lists all.",
          target: property.name)
      }
      guard !properties.contains(where: { $0.name == property.name }) else {
        throw ODataRefusal(
          400, "twice", "\(property.name) is in the body twice. Send it once.",
          target: property.name)
      }
      if property.value.isNull, !declared.facets.isNullable {
        throw ODataRefusal(
          400, "notNullable", "\(property.name) cannot be null. Send a value.",
          target: property.name)
      }
      guard fits(property.value, declared.type) else {
        throw ODataRefusal(
          400, "badValue",
          "The value of \(property.name) is no \(declared.type). Send one of this type.",
          target: property.name)
      }
      if let part = key?[property.name] {
        // Not a change: it names the entity once more.
        guard part == property.value || isNew == false else {
          throw ODataRefusal(
            400, "otherKey", "\(property.name) in the body is not that of the address.",
            target: property.name)
        }
        continue
      }
      properties.append(property)
    }
    try bind(entry.links, to: &properties, set)
    return ODataProperties((isNew ? key.map(Array.init) ?? [] : []) + properties)
  }

  /// Whether a value has the form of a type: the reader keeps what it cannot make one of.
  private func fits(_ value: EdmValue, _ type: EdmTypeReference) -> Bool {
    switch value {
    case .null: return true
    case .collection(let values):
      return type.isCollection && values.allSatisfy { fits($0, type.element) }
    case .complex: return !type.isCollection && metadata.complexType(type.name) != nil
    case .enumeration: return !type.isCollection && metadata.enumType(type.name) != nil
    default: return !type.isCollection && value.primitive == metadata.primitive(type.name)
    }
  }

  /// The address of the entity that a link shall lead to; nil where it says something else.
  private func reference(_ link: ODataLink) -> String? {
    if link.isBinding { return link.href }
    guard call.version < .v4 else { return nil }
    // V2 sends an entity that has an address and nothing else.
    if case .entry(let entry?) = link.inline {
      return entry.properties.isEmpty ? entry.editLink ?? entry.id : nil
    }
    // Atom has an address beside each link, also beside those that only say where to read.
    guard link.inline == nil, let name = link.navigation, !link.href.hasSuffix("/" + name) else {
      return nil
    }
    return link.href
  }

  /// `Customer@odata.bind` sets the properties by which an entity refers to another.
  private func bind(
    _ links: [ODataLink], to properties: inout [ODataProperty], _ set: EdmEntitySet
  ) throws(ODataRefusal) {
    for link in links {
      guard let name = link.navigation, let href = reference(link) else { continue }
      let (navigation, target) = try self.navigation(name, from: set)
      for property in try own(navigation, href, target) {
        properties.removeAll { $0.name == property.name }
        properties.append(property)
      }
    }
  }

  /// The properties of an entity that refer to the one at an address; null for none.
  private func own(
    _ navigation: EdmNavigationProperty, _ href: String?, _ target: EdmEntitySet
  ) throws(ODataRefusal) -> [ODataProperty] {
    guard navigation.type?.isCollection != true, !navigation.constraints.isEmpty else {
      throw .notOffered("\(navigation.name) in a change: change the entities behind it. It")
    }
    let other = try href.map { href throws(ODataRefusal) in
      try keyOf(href, target, navigation.name)
    }
    return try navigation.constraints.map { constraint throws(ODataRefusal) in
      guard let other else { return ODataProperty(constraint.property, .null) }
      guard let value = other[constraint.referencedProperty] else {
        throw .notOffered("\(navigation.name) in a change")
      }
      return ODataProperty(constraint.property, value)
    }
  }

  private func keyOf(
    _ href: String, _ target: EdmEntitySet, _ name: String
  ) throws(ODataRefusal) -> ODataProperties {
    let path =
      href.hasPrefix(call.root)
      ? String(href.dropFirst(call.root.count)) : String(href.drop { $0 == "/" })
    let request = HTTPRequest(method: .get, path: "/" + path)
    let other = ODataWork(
      service, try ODataCall(request, rest: path, root: call.root, metadata), source)
    let (set, key) = try other.place()
    guard let key, set.name == target.name else {
      throw ODataRefusal(
        400, "badBinding",
        "\(name) shall lead to \(href), which is not the address of an entity of \(target.name).",
        target: name)
    }
    return key
  }

  /// `Bookings(1)/$links/flight` and `Bookings(1)/flight/$ref`: the reference of an entity.
  func referencePlace() throws(ODataRefusal) -> (
    EdmEntitySet, ODataProperties, EdmNavigationProperty
  )? {
    guard let resolved = call.resolved, let first = resolved.steps.first, first.kind == .entitySet,
      case .name(let setName)? = call.address.path.first, let set = metadata.entitySet(setName)
    else { return nil }
    let path = call.address.path
    let rest: ArraySlice<ODataSegment>
    if call.version < .v4 {
      guard let mark = path.firstIndex(of: .links) else { return nil }
      rest = path[..<mark] + path[(mark + 1)...]
    } else {
      guard path.last == .ref else { return nil }
      rest = path.dropLast()
    }
    guard case .name(let name)? = rest.last, rest.count >= 3,
      let key = try key(upTo: rest.count - 2, of: set, resolved)
    else { throw .notOffered("a change of this reference") }
    return (set, key, try navigation(name, from: set).0)
  }

  func planReference(
    _ navigation: EdmNavigationProperty, of set: EdmEntitySet, _ key: ODataProperties
  ) async throws(ODataRefusal) -> Plan {
    try call.allow([.get, .head, .put, .delete])
    let target = try self.navigation(navigation.name, from: set).1
    var href: String?
    if call.request.method == .put {
      do throws(ODataError) { href = try ODataReference.read(call.request.body) } catch {
        throw ODataRefusal(error, isBody: true)
      }
    }
    var write = ODataWrite(.update, set)
    write.key = key
    write.condition = condition()
    write.properties = ODataProperties(try own(navigation, href, target))
    write = try prepared(write)
    if let response = try await repeated(write) { return .answer(response) }
    guard let known = try await source.entry(set, key: key) else {
      throw .notFound("\(set.name)(\(keyText(key)))")
    }
    try check(write.condition, known)
    return .write(write)
  }
}
