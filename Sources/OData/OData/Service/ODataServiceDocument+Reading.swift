import FerryJSON

extension ODataServiceDocument {
  /// Reads a service document.
  ///
  /// Throws `missing` where a collection has no address and reading is strict, `unexpectedDocument`
  /// for another kind of document, and what every reader throws.
  public static func read(
    _ bytes: [UInt8], strict: Bool = false, limits: ODataLimits = .standard
  ) throws(ODataError) -> ODataServiceDocument {
    if HTMLPage.isHTML(bytes) { throw HTMLPage.refusal }
    let document: ODataServiceDocument
    if ODataSniff.isJSON(bytes) {
      let text = try EdmJSONReader.decoded(bytes)
      document = try ODataServiceDocument(
        json: try EdmJSONReader.parse(text, limits: limits), text: text)
    } else {
      let (tree, notes) = try XMLTree.read(bytes, limits: limits)
      document = try ODataServiceDocument(atom: tree.root, notes: notes)
    }
    if strict, let first = document.diagnostics.first { throw ODataError(strict: first) }
    return document
  }

  private init(atom root: XMLElement, notes: [ODataDiagnostic]) throws(ODataError) {
    if let page = HTMLPage.error(root) { throw page }
    guard root.local == "service" else {
      throw ODataError(
        .unexpectedDocument, "the root is \(root.local), not service", at: root.place)
    }
    self.init()
    diagnostics = notes
    documentLanguage = root.attribute("lang", .xml)
    baseURL = root.attribute("base", .xml)
    var hasSAP = false
    for child in root.children {
      switch child.local {
      case "workspace":
        var workspace = ODataWorkspace(
          title: child.child(.atom, "title")?.text,
          semantic: ODataWorkspaceSemantic(child.attribute("semantics", .sap)))
        for member in child.children {
          let kind: ODataCollection.Kind
          switch member.local {
          case "collection": kind = .entitySet
          case "singleton": kind = .singleton
          case "function-import": kind = .functionImport
          case "service-document": kind = .serviceDocument
          default: continue
          }
          let collection = self.collection(member, kind)
          if collection.attributes.all.contains(where: { EdmAttributes.isSAP($0.namespace) }) {
            hasSAP = true
          }
          workspace.collections.append(collection)
        }
        workspaces.append(workspace)
      case "link" where child.space == .atom: links.append(AtomEntryReader.plainLink(child))
      default: break
      }
    }
    if hasSAP { serverType = .gateway }
  }

  private mutating func collection(
    _ element: XMLElement, _ kind: ODataCollection.Kind
  ) -> ODataCollection {
    let href = element.attribute("href")
    let title = element.child(.atom, "title")?.text
    if href == nil {
      diagnostics.append(
        ODataDiagnostic(
          "a collection has no href", at: element.place, consequence: "its title is taken"))
    }
    let path = href ?? title ?? ""
    let last = path.split(separator: "?").first?.split(separator: "/").last.map(String.init)
    let name = element.attribute("name", .metadata) ?? last ?? path
    var collection = ODataCollection(name, href: path, kind: kind)
    collection.title = title
    collection.memberTitle =
      element.attribute("member-title", .sap)
      ?? element.children.first { $0.local == "member-title" }?.text
    collection.attributes = EdmAttributes(
      element.attributes.filter { $0.name.space != .none && $0.name.space != .xml }.map {
        EdmAttributes.Attribute(
          namespace: $0.name.address.isEmpty ? $0.name.prefix : $0.name.address,
          name: $0.name.local, value: $0.value)
      })
    let sap = SAPAnnotations(collection.attributes)
    var flags: ODataCollectionFlags = []
    if sap.creatable { flags.insert(.creatable) }
    if sap.updatable { flags.insert(.updatable) }
    if sap.deletable { flags.insert(.deletable) }
    if sap.requiresFilter { flags.insert(.requiresFilter) }
    if sap.topLevel { flags.insert(.topLevel) }
    if sap.searchable { flags.insert(.searchable) }
    if collection.attributes.sap("has-media") == "true" { flags.insert(.hasMedia) }
    collection.contentVersion = sap.contentVersion
    collection.semantic = ODataCollectionSemantic(sap.semantics)
    collection.displayOrder = sap.displayOrder ?? 0
    for child in element.children {
      switch child.local {
      case "accept": collection.accepts.append(child.text.trimmed)
      case "link":
        let link = AtomEntryReader.plainLink(child)
        if link.relation == "icon" || link.relation.hasSuffix("#icon") {
          collection.icons.append(link)
        } else {
          collection.links.append(link)
        }
        if link.role == .search { flags.insert(.searchable) }
      case "icon":
        let address = child.attribute("href") ?? child.attribute("src") ?? child.text.trimmed
        var link = ODataLink(relation: "icon", href: address, type: child.attribute("type"))
        for (name, value) in child.attributes { link.attributes[name.local] = value }
        collection.icons.append(link)
      default: break
      }
    }
    collection.flags = flags
    return collection
  }

  private init(json root: JSONNode, text: [UInt8]) throws(ODataError) {
    self.init()
    var workspace = ODataWorkspace(title: "Default")
    let places = TextPlaces(text)
    var notes = EdmDiagnostics(limit: ODataLimits.standard.diagnostics)
    func refusal() -> ODataError {
      ODataError(
        .unexpectedDocument, "the JSON is not a service document",
        at: ODataPlace(line: 1, column: 1))
    }
    if let sets = (root["d"] ?? root)["EntitySets"]?.array {
      for set in sets {
        guard let name = set.string else { throw refusal() }
        workspace.collections.append(ODataCollection(name))
      }
    } else if let items = root["value"]?.array {
      let context = (root["@odata.context"] ?? root["@context"] ?? root["odata.metadata"])?.string
      if let context, context.contains("#") { throw refusal() }
      if let context, context.hasSuffix("$metadata") {
        baseURL = String(context.dropLast("$metadata".count)).nilIfEmpty
      }
      for item in items {
        guard item.object != nil else { throw refusal() }
        guard let url = item["url"]?.string ?? item["name"]?.string else {
          let place = places.place(item.offset)
          notes.add(
            "an item has neither url nor name",
            ODataPlace(line: place.line, column: place.column, path: "/value"), "it is skipped")
          continue
        }
        let kind = item["kind"]?.string
        var collection = ODataCollection(
          item["name"]?.string ?? url, href: url,
          kind: kind.flatMap { ODataCollection.Kind(rawValue: $0) } ?? .entitySet)
        collection.title = item["title"]?.string
        workspace.collections.append(collection)
      }
    } else {
      throw refusal()
    }
    diagnostics = notes.list
    workspaces = [workspace]
  }
}
