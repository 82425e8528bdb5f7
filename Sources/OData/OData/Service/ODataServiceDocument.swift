/// What a service offers, from its service document in Atom or JSON of any version.
///
/// Reference: ios/PAR-1, ios/1.O `SDMODataServiceDocument`.
public struct ODataServiceDocument: Sendable {
  /// `gateway` if a collection carries an attribute of SAP.
  public var serverType: ODataServerType
  /// `xml:lang` of the document.
  public var documentLanguage: String?
  /// `xml:base` of the document, or the context of JSON without `$metadata`.
  public var baseURL: String?
  /// In the order of the document.
  public var workspaces: [ODataWorkspace]
  /// Links of the document itself (`self`, `latest-version`).
  public var links: [ODataLink]
  /// What was not as it should be, also when metadata was attached.
  public var diagnostics: [ODataDiagnostic]
  /// The metadata, once `attach` was called.
  public private(set) var metadata: EdmMetadata?

  /// Of a plain OData service, without metadata.
  public init(workspaces: [ODataWorkspace] = []) {
    self.workspaces = workspaces
    serverType = .odata
    links = []
    diagnostics = []
  }

  /// Those of all workspaces, in the order of the document.
  public var collections: [ODataCollection] { workspaces.flatMap(\.collections) }

  /// The workspaces and collections with their schemas; nil until metadata was attached.
  public var schema: ODataSchema? {
    metadata.map { ODataSchema(workspaces: workspaces, metadata: $0) }
  }

  /// Function imports by name; empty until metadata was attached.
  public var functionImports: [String: ODataFunctionImport] {
    guard let metadata else { return [:] }
    var found: [String: ODataFunctionImport] = [:]
    for declaration in metadata.containers.flatMap(\.functionImports) {
      found[declaration.name] = ODataFunctionImport(declaration, in: metadata)
    }
    return found
  }

  /// Gives every collection the schema of its entity set (joined by the unqualified name).
  public mutating func attach(_ metadata: EdmMetadata) {
    self.metadata = metadata
    for workspace in workspaces.indices {
      for index in workspaces[workspace].collections.indices {
        let collection = workspaces[workspace].collections[index]
        guard collection.kind == .entitySet else { continue }
        guard let set = metadata.entitySet(collection.name) ?? metadata.entitySet(collection.href)
        else {
          diagnostics.append(
            ODataDiagnostic(
              "the metadata has no entity set \(collection.name)",
              at: ODataPlace(path: collection.href), consequence: "the collection has no schema"))
          continue
        }
        workspaces[workspace].collections[index].entitySchema = ODataEntitySchema(
          of: set, in: metadata, collection: collection)
      }
    }
  }
}

/// The schema of a service: its collections, each with the schema of its entries.
///
/// Reference: ios/1.O `SDMODataSchema`.
public struct ODataSchema: Sendable {
  /// Those of the service document, with a schema for each entity set.
  public let workspaces: [ODataWorkspace]
  /// What the schemas were made from.
  public let metadata: EdmMetadata

  /// The workspaces of one meaning.
  public func workspaces(_ semantic: ODataWorkspaceSemantic) -> [ODataWorkspace] {
    workspaces.filter { $0.semantic == semantic }
  }

  /// A collection by name, without a namespace.
  public func collection(_ name: String) -> ODataCollection? {
    collectionInWorkspace(name)?.collection
  }

  /// A collection and the workspace it is in.
  public func collectionInWorkspace(
    _ name: String
  ) -> (collection: ODataCollection, workspace: ODataWorkspace)? {
    for workspace in workspaces {
      if let found = workspace.collections.first(where: { $0.name == name }) {
        return (found, workspace)
      }
    }
    return nil
  }
}

/// A group of collections (ios/1.O `SDMODataWorkspace`).
public struct ODataWorkspace: Sendable {
  /// The heading for people, often `Default`; nil where absent.
  public var title: String?
  /// `data` where the document names nothing.
  public var semantic: ODataWorkspaceSemantic
  /// In the order of the document.
  public var collections: [ODataCollection]

  /// Of plain data and empty, unless set otherwise.
  public init(
    title: String? = nil, semantic: ODataWorkspaceSemantic = .data,
    collections: [ODataCollection] = []
  ) {
    self.title = title
    self.semantic = semantic
    self.collections = collections
  }
}

/// Something that a service document lists (ios/1.O `SDMODataCollection`).
public struct ODataCollection: Sendable {
  /// V4 lists more than sets.
  public enum Kind: String, Sendable, Hashable {
    /// The only kind before V4.
    case entitySet = "EntitySet"
    /// One entity that has an address of its own.
    case singleton = "Singleton"
    /// A function that can be read without parameters.
    case functionImport = "FunctionImport"
    /// Another service that is listed here.
    case serviceDocument = "ServiceDocument"
  }

  /// `EntitySet` where the document names none.
  public var kind: Kind
  /// The address relative to the service.
  public var href: String
  /// Without a path, such as `Products`; joins it with the metadata.
  public var name: String
  /// The plural that people read.
  public var title: String?
  /// The singular that people read.
  public var memberTitle: String?
  /// Permissions by SAP's annotations; `standard` without any.
  public var flags: ODataCollectionFlags
  /// `sap:content-version`; 1 where absent.
  public var contentVersion: Int
  /// `none` for plain data.
  public var semantic: ODataCollectionSemantic
  /// `sap:display-order`: low numbers come first. 0 where absent.
  public var displayOrder: Int
  /// Addresses of icons, with their sizes and types as links.
  public var icons: [ODataLink]
  /// Such as those for subscriptions and for search.
  public var links: [ODataLink]
  /// Media types that can be posted.
  public var accepts: [String]
  /// Attributes of foreign namespaces, such as `sap:creatable`.
  public var attributes: EdmAttributes
  /// The schema of the entries, once metadata was attached.
  public var entitySchema: ODataEntitySchema?
  /// The description of how to search, once it was fetched and read.
  public var openSearchDescription: ODataOpenSearchDescription?

  /// The address equals the name unless given.
  public init(_ name: String, href: String? = nil, kind: Kind = .entitySet) {
    self.kind = kind
    self.href = href ?? name
    self.name = name
    flags = .standard
    contentVersion = 1
    semantic = .none
    displayOrder = 0
    icons = []
    links = []
    accepts = []
    attributes = EdmAttributes()
  }

  /// Entries can be posted.
  public var isCreatable: Bool { flags.contains(.creatable) }
  /// Entries can be changed.
  public var isUpdatable: Bool { flags.contains(.updatable) }
  /// Entries can be deleted.
  public var isDeletable: Bool { flags.contains(.deletable) }
  /// People may start here, `sap:topLevel`.
  public var isTopLevel: Bool { flags.contains(.topLevel) }
  /// The option `search` is understood, or an OpenSearch description is linked.
  public var isSearchable: Bool { flags.contains(.searchable) }
  /// Reading needs a `$filter`.
  public var requiresFilter: Bool { flags.contains(.requiresFilter) }
  /// By its own flag, or by the schema once metadata was attached.
  public var hasMedia: Bool {
    flags.contains(.hasMedia) || entitySchema?.flags.contains(.hasMedia) == true
  }
  /// Where to subscribe to changes.
  public var subscriptionLink: ODataLink? { links.first { $0.role == .subscriptions } }
  /// Where the OpenSearch description is.
  public var openSearchLink: ODataLink? { links.first { $0.role == .search } }
}
