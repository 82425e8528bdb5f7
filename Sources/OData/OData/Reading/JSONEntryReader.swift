import FerryJSON

/// Makes entries of JSON objects: verbose (V1 to V3), light (V3) and V4.
struct JSONEntryReader {
  let context: ODataReadContext
  let record: JSONRecord
  /// Whether the document is verbose JSON (inside `d`).
  let isVerbose: Bool
  let base: ODataGround?
  /// What the context says of the members; nil where it names nothing that is expanded.
  var selection: JSONSelection?

  var readsInline: Bool { context.options.readsInline }

  /// An address beside the base that is known, if one is.
  func absolute(_ address: String) -> String {
    address.isEmpty ? address : base?.resolve(address) ?? address
  }

  /// The reader of what a member holds.
  func inside(_ name: String) -> JSONEntryReader {
    guard selection != nil else { return self }
    var reader = self
    reader.selection = selection?.members[name]
    return reader
  }

  /// The reader of an object that may have a context of its own.
  func under(_ context: String?) -> JSONEntryReader {
    guard let found = context.flatMap({ JSONSelection(context: $0) }) else { return self }
    var reader = self
    reader.selection = found
    return reader
  }

  /// The address that a next or delta link leads to: a text, or an object with a `uri`. Anything
  /// else is told, for half a feed must not pass for a whole one.
  func target(_ node: Int) throws(ODataError) -> String? {
    var found: Int? = node
    if record.kind(node) == .object { found = try record.member(node, "uri") }
    if let found, record.kind(found) == .string { return absolute(try record.string(found)) }
    if record.kind(node) != .null {
      try context.report(
        "the next link is not an address", record.place(of: node),
        "more entries may exist that are not loaded")
    }
    return nil
  }

  /// An object of a feed: an entry, or one of the things that a feed of changes holds.
  func item(_ node: Int, type: String?) throws(ODataError) -> ODataItem {
    guard record.kind(node) == .object else {
      // The members of a list of primitives are of the type that was asked for.
      let own = type.map { EdmTypeReference($0) }
      return .value(try value(node, type: own?.primitive == nil ? nil : own))
    }
    if let error = try inStreamError(node) { throw error }
    var isRemoved = false
    var reason: String?
    var control: [String: String] = [:]
    for child in record.children(node) {
      let key = try record.key(child)
      switch key {
      case "@removed", "@odata.removed":
        isRemoved = true
        reason = try record.text(child, "reason")
      case "@odata.context", "@context", "@odata.id", "@id", "id", "reason", "source", "target",
        "relationship":
        control[key] = try record.scalar(child)
      default: break
      }
    }
    let context = control["@odata.context"] ?? control["@context"] ?? ""
    let id = control["@odata.id"] ?? control["@id"] ?? control["id"] ?? ""
    if isRemoved {
      let entry = try entry(node, type: type)
      return .deleted(
        ODataDeletedEntry(
          id: entry.id ?? id, reason: reason, properties: entry.properties))
    }
    if context.hasSuffix("$deletedEntity") {
      return .deleted(ODataDeletedEntry(id: id, reason: control["reason"]))
    }
    if context.hasSuffix("$link") || context.hasSuffix("$deletedLink") {
      return .link(
        ODataChangedLink(
          isDeleted: context.hasSuffix("$deletedLink"), source: control["source"] ?? "",
          relationship: control["relationship"] ?? "", target: control["target"] ?? ""))
    }
    if let type, self.context.options.metadata?.complexType(type) != nil {
      return .value(try value(node, type: EdmTypeReference(type)))
    }
    return .entry(try entry(node, type: type))
  }

  /// `{"error": {"code": …, "message": …}}` in the place of an entry.
  func inStreamError(_ node: Int) throws(ODataError) -> ODataError? {
    var count = 0
    var error: Int?
    for child in record.children(node) {
      count += 1
      let key = try record.key(child)
      if key == "error" || key == "odata.error" || key == "@odata.error" { error = child }
    }
    guard count == 1, let error, record.kind(error) == .object,
      try record.member(error, "message") != nil
    else { return nil }
    return try record.errorDocument(error).thrown(at: record.place(record.offset(node)))
  }

  func entry(_ node: Int, type expected: String?) throws(ODataError) -> ODataEntry {
    var entry = ODataEntry()
    var marks: [String: EdmTypeReference] = [:]
    var links: [String: ODataLink] = [:]
    var order: [String] = []
    var notes: [String: [String: EdmValue]] = [:]
    // What describes the members may stand after them, so it is gathered first.
    for child in record.children(node) {
      let key = try record.name(child)
      if isVerbose {
        if key.text == "__metadata" { try metadata(child, into: &entry, &links, &order) }
        continue
      }
      guard let control = key.control else { continue }
      if key.name.isEmpty {
        try self.control(control, key.isProtocol, child, into: &entry)
      } else if key.isProtocol {
        if control == "type" {
          if let mark = try record.scalar(child) { marks[key.name] = context.marked(mark) }
        } else {
          try member(key.name, control, child, &links, &order, &notes)
        }
      } else {
        notes[key.name, default: [:]][control] = try value(child, type: nil)
      }
    }
    let reader = under(entry.context)
    let expected = expected ?? context.type(context: entry.context)
    let index = context.index(entry.type ?? expected) ?? context.index(expected)
    if entry.type == nil { entry.type = index?.name ?? expected }
    var properties: [ODataProperty] = []
    properties.reserveCapacity(16)
    for child in record.children(node) {
      let key = try record.name(child)
      let name = key.text
      if isVerbose ? name == "__metadata" : key.control != nil { continue }
      let link = links.isEmpty ? nil : links[name]
      let note = notes.isEmpty ? nil : notes[name]
      let member = key.member(of: index)
      if let inline = try reader.navigation(child, name, member, link, note) {
        var link = link ?? .related(name)
        link.role = .related(name)
        if let href = inline.href { link.href = href }
        if readsInline { link.inline = inline.content }
        if links[name] == nil { order.append(name) }
        links[name] = link
        continue
      }
      var declared: EdmTypeReference?
      if case .property(let property, _)? = member { declared = property.type }
      let mark = marks.isEmpty ? nil : marks[name]
      let value = try reader.inside(name).value(child, type: mark ?? declared)
      if isVerbose, let stream = stream(value, child) {
        entry.links += stream.map { link in
          var link = link
          link.role = link.relation == "edit" ? .editStream(name) : .stream(name)
          return link
        }
        continue
      }
      var property = ODataProperty(name, value, type: mark ?? declared)
      if let note { property.annotations = note }
      properties.append(property)
    }
    entry.properties = ODataProperties(properties)
    for name in order { if let link = links[name] { entry.links.append(link) } }
    return entry
  }

  func control(
    _ control: String, _ isProtocol: Bool, _ node: Int, into entry: inout ODataEntry
  ) throws(ODataError) {
    guard isProtocol else {
      entry.annotations[control] = try value(node, type: nil)
      return
    }
    if control.hasPrefix("#") || control.contains("#") {
      return try operation(control, node, &entry)
    }
    let text = try record.scalar(node)
    let address = text.map { absolute($0) } ?? ""
    func media() -> ODataMedia { entry.media ?? ODataMedia() }
    switch control {
    case "context", "metadata":
      entry.context = text
      if text?.hasSuffix("$ref") == true { entry.isReference = true }
    case "type": entry.type = text.map { context.marked($0).name }
    case "id": entry.id = text
    case "etag": entry.etag = text
    case "editLink":
      entry.links.append(ODataLink(relation: "edit", href: address, role: .edit))
    case "readLink":
      entry.links.append(ODataLink(relation: "self", href: address, role: .`self`))
    case "mediaReadLink":
      var changed = media()
      changed.source = text == nil ? nil : address
      entry.media = changed
    case "mediaEditLink":
      var changed = media()
      changed.editLink = text == nil ? nil : address
      entry.media = changed
      entry.links.append(ODataLink(relation: "edit-media", href: address, role: .editMedia))
    case "mediaContentType":
      var changed = media()
      changed.contentType = text
      entry.media = changed
    case "mediaEtag", "mediaETag":
      var changed = media()
      changed.etag = text
      entry.media = changed
    default: entry.annotations["odata." + control] = try value(node, type: nil)
    }
  }

  /// `"#NS.Approve": {"title": …, "target": …}`.
  func operation(
    _ name: String, _ node: Int, _ entry: inout ODataEntry
  ) throws(ODataError) {
    let targets = record.kind(node) == .array ? Array(record.children(node)) : [node]
    for target in targets {
      entry.operations.append(
        ODataOperation(
          isFunction: false, metadata: name, title: try record.text(target, "title"),
          target: try record.text(target, "target").map { absolute($0) }))
    }
  }

  /// A control that stands beside a property or navigation property.
  func member(
    _ name: String, _ control: String, _ node: Int, _ links: inout [String: ODataLink],
    _ order: inout [String], _ notes: inout [String: [String: EdmValue]]
  ) throws(ODataError) {
    let text = absolute(try record.scalar(node) ?? "")
    func add(_ key: String, _ link: ODataLink) {
      if links[key] == nil { order.append(key) }
      links[key] = link
    }
    switch control {
    case "navigationLink", "navigationLinkUrl":
      var link = links[name] ?? .related(name)
      link.href = text
      add(name, link)
    case "associationLink", "associationLinkUrl":
      add(
        name + "/$ref",
        ODataLink(
          relation: ODataRelation.association + name, href: text, title: name,
          role: .association(name)))
    case "mediaReadLink":
      add(
        name + "/read",
        ODataLink(relation: ODataRelation.stream + name, href: text, title: name))
    case "mediaEditLink":
      add(
        name + "/edit",
        ODataLink(relation: ODataRelation.editStream + name, href: text, title: name))
    case "bind":
      let values = record.kind(node) == .array ? Array(record.children(node)) : [node]
      for (number, value) in values.enumerated() {
        var link = ODataLink.related(name, href: absolute(try record.scalar(value) ?? ""))
        link.attributes["bind"] = "true"
        add(name + "/bind\(number)", link)
      }
    case "nextLink":
      notes[name, default: [:]]["odata.nextLink"] = try target(node).map { .string($0) } ?? .null
    default:
      notes[name, default: [:]]["odata." + control] = try value(node, type: nil)
    }
  }

  /// `__metadata` of verbose JSON.
  func metadata(
    _ node: Int, into entry: inout ODataEntry, _ links: inout [String: ODataLink],
    _ order: inout [String]
  ) throws(ODataError) {
    guard record.kind(node) == .object else { return }
    var media = ODataMedia()
    for child in record.children(node) {
      let text = try record.scalar(child)
      switch try record.key(child) {
      case "uri":
        entry.id = entry.id ?? text
        entry.links.append(ODataLink(relation: "edit", href: absolute(text ?? ""), role: .edit))
      case "id": entry.id = text
      case "type": entry.type = text.map { context.marked($0).name }
      case "etag": entry.etag = text
      case "media_src": media.source = text.map { absolute($0) }
      case "content_type": media.contentType = text
      case "media_etag": media.etag = text
      case "edit_media":
        media.editLink = text.map { absolute($0) }
        entry.links.append(
          ODataLink(relation: "edit-media", href: absolute(text ?? ""), role: .editMedia))
      case "properties":
        for property in record.children(child) where record.kind(property) == .object {
          guard let uri = try record.text(property, "associationuri") else { continue }
          let name = try record.key(property)
          links[name + "/$ref"] = ODataLink(
            relation: ODataRelation.association + name, href: absolute(uri), title: name,
            role: .association(name))
          order.append(name + "/$ref")
        }
      case "actions", "functions":
        let isFunction = try record.key(child) == "functions"
        for operation in record.children(child) {
          let name = try record.key(operation)
          let targets =
            record.kind(operation) == .array ? Array(record.children(operation)) : [operation]
          for target in targets {
            entry.operations.append(
              ODataOperation(
                isFunction: isFunction, metadata: name, title: try record.text(target, "title"),
                target: try record.text(target, "target")))
          }
        }
      default: break
      }
    }
    if media != ODataMedia() { entry.media = media }
  }

  func stream(_ value: EdmValue, _ node: Int) -> [ODataLink]? {
    guard let inner = value.complex, inner.properties.count == 1,
      let resource = inner["__mediaresource"]?.complex
    else { return nil }
    var links: [ODataLink] = []
    for (name, relation) in [("media_src", "read"), ("edit_media", "edit")] {
      guard let href = resource[name]?.string else { continue }
      var link = ODataLink(
        relation: relation, href: absolute(href), type: resource["content_type"]?.string,
        role: .other)
      link.etag = resource["media_etag"]?.string
      links.append(link)
    }
    return links
  }
}
