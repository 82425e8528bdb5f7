import FerryOData
import FerryODataAddress

/// The form of an answer that has entities or values.
struct ODataForm: Sendable {
  /// What a document is, which Atom says in its media type.
  enum Content: Sendable { case feed, entry, value }

  var format: ODataFormat = .json
  var version: ODataVersion
  var metadata: ODataCall.Control = .minimal
  var isIEEE754Compatible: Bool = false

  /// Whether entities say where they are, and where their links lead.
  var hasLinks: Bool { version < .v4 || metadata == .full }

  func contentType(_ content: Content) -> String {
    switch (format, content) {
    case (.atom, .feed): "application/atom+xml;type=feed;charset=utf-8"
    case (.atom, .entry): "application/atom+xml;type=entry;charset=utf-8"
    case (.atom, .value): "application/xml;charset=utf-8"
    case (.json, _) where version < .v4: "application/json;charset=utf-8"
    case (.json, _):
      "application/json;odata.metadata=\(metadata.rawValue)"
        + (isIEEE754Compatible ? ";IEEE754Compatible=true" : "") + ";charset=utf-8"
    }
  }
}

extension ODataCall {
  private static let atomTypes = ["application/atom+xml", "application/xml", "text/xml"]

  /// The form that is asked for. Throws where none is taken.
  func form() throws(ODataRefusal) -> ODataForm {
    var form = ODataForm(version: version)
    guard version >= .v4 else {
      try accept(["application/json"] + Self.atomTypes)
      // What a client has named first; Atom where it has named nothing.
      let first = accepted.first { type, _ in
        type == "*/*" || type.contains("json") || Self.atomTypes.contains(type)
          || type == "application/*"
      }
      form.format = first?.type.contains("json") == true ? .json : .atom
      return form
    }
    try accept(["application/json"])
    guard let wanted = accepted.first(where: { $0.type.contains("json") }) else { return form }
    if let control = wanted.parameters["odata.metadata"] ?? wanted.parameters["metadata"] {
      guard let known = Control(rawValue: control) else {
        throw ODataRefusal(
          406, "notAcceptable",
          "odata.metadata=\(control) is not known. Send none, minimal or full.", target: "Accept")
      }
      form.metadata = known
    }
    form.isIEEE754Compatible = wanted.parameters["ieee754compatible"] == "true"
    return form
  }
}

extension ODataQueryOptions {
  /// Paths of `$expand` and `$select`, as V2 has them, as options inside each other.
  var nested: ODataQueryOptions {
    var nested = self
    var expand: [ODataExpandItem] = []
    for item in self.expand { Self.add(item.path[...], item, to: &expand) }
    nested.expand = expand
    var select: [ODataSelectItem] = []
    for item in self.select {
      guard item.path.count > 1, let first = item.path.first,
        let index = nested.expand.firstIndex(where: { $0.path == [first] })
      else {
        select.append(item)
        continue
      }
      var rest = item
      rest.path.removeFirst()
      nested.expand[index].options.select.append(rest)
      // Only a part of what is expanded is wanted, and nothing more of this entity.
      if !select.contains(where: { $0.path == [first] }) {
        select.append(ODataSelectItem([first], columns: item.columns))
      }
    }
    nested.select = select
    for index in nested.expand.indices {
      nested.expand[index].options = nested.expand[index].options.nested
    }
    return nested
  }

  private static func add(
    _ path: ArraySlice<String>, _ item: ODataExpandItem, to items: inout [ODataExpandItem]
  ) {
    guard let first = path.first else { return }
    let index: Int
    if let known = items.firstIndex(where: { $0.path == [first] }) {
      index = known
    } else {
      items.append(ODataExpandItem([first], content: item.content, columns: item.columns))
      index = items.count - 1
    }
    add(path.dropFirst(), item, to: &items[index].options.expand)
  }
}
