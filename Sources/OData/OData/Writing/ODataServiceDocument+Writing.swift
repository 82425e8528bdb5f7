import FerryJSON

/// What a service offers, as the document at its root.
extension ODataServiceDocument {
  /// Lists the sets, singletons and function imports that metadata offers.
  public init(of metadata: EdmMetadata) {
    var workspace = ODataWorkspace(title: "Default")
    for container in metadata.containers {
      for set in container.entitySets where set.isInServiceDocument {
        var collection = ODataCollection(set.name)
        collection.title = set.name
        collection.attributes = set.attributes
        workspace.collections.append(collection)
      }
      for singleton in container.singletons {
        var collection = ODataCollection(singleton.name, kind: .singleton)
        collection.title = singleton.name
        workspace.collections.append(collection)
      }
      for function in container.functionImports
      where function.function != nil && function.isInServiceDocument {
        var collection = ODataCollection(function.name, kind: .functionImport)
        collection.title = function.name
        workspace.collections.append(collection)
      }
    }
    self.init(workspaces: [workspace])
  }

  /// In JSON: `value` with an object for each from V4 on, before it `d` with the names of the sets.
  ///
  /// `root`: the absolute address of the service, with a slash at its end. Without a context, as for
  /// `odata.metadata=none`, pass nil.
  public func json(_ version: ODataVersion, root: String?) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    guard version >= .v4 else {
      writer.key("d")
      writer.beginObject()
      writer.key("EntitySets")
      writer.array(collections.filter { $0.kind == .entitySet }) { $0.string($1.name) }
      writer.endObject()
      writer.endObject()
      return writer.bytes
    }
    if let root { writer.field("@odata.context", root + "$metadata") }
    writer.key("value")
    writer.array(collections) { writer, collection in
      writer.beginObject()
      writer.field("name", collection.name)
      if let title = collection.title, title != collection.name { writer.field("title", title) }
      writer.field("kind", collection.kind.rawValue)
      writer.field("url", collection.href)
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes
  }

  /// In XML, as an Atom service document with `root` as its base.
  public func xml(_ version: ODataVersion, root: String) throws(ODataError) -> [UInt8] {
    var writer = XMLWriter(declaration: true)
    writer.open("service")
    writer.attribute("xmlns", "http://www.w3.org/2007/app")
    writer.attribute("xmlns:atom", "http://www.w3.org/2005/Atom")
    if version >= .v4 {
      writer.attribute("xmlns:m", "http://docs.oasis-open.org/odata/ns/metadata")
      writer.attribute("m:context", root + "$metadata")
    }
    let hasSAP = collections.contains { collection in
      collection.attributes.all.contains { EdmAttributes.isSAP($0.namespace) }
    }
    if hasSAP { writer.attribute("xmlns:sap", EdmXMLWriter.sapSpace) }
    writer.attribute("xml:base", root)
    for workspace in workspaces {
      writer.open("workspace")
      writer.element("atom:title", workspace.title ?? "Default")
      for collection in workspace.collections {
        let element: String
        switch collection.kind {
        case .entitySet: element = "collection"
        case .singleton: element = "m:singleton"
        case .functionImport: element = "m:function-import"
        case .serviceDocument: element = "m:service-document"
        }
        // Only sets are listed before V4.
        guard version >= .v4 || collection.kind == .entitySet else { continue }
        writer.open(element)
        writer.attribute("href", collection.href)
        for attribute in collection.attributes.all where EdmAttributes.isSAP(attribute.namespace) {
          writer.attribute("sap:\(attribute.name)", attribute.value)
        }
        writer.element("atom:title", collection.title ?? collection.name)
        writer.close(element)
      }
      writer.close("workspace")
    }
    writer.close("service")
    if let character = writer.unwritable {
      throw ODataError(.unwritable, "XML cannot hold \(character)")
    }
    return writer.bytes
  }
}
