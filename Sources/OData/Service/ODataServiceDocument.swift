/// What a service offers, from its service document in Atom or JSON of any version.
///
/// Reference: ios/PAR-1, ios/1.O `SDMODataServiceDocument`.
public struct ODataServiceDocument: Sendable {
  public var serverType: ODataServerType
  /// `xml:lang` of the document.
  public var documentLanguage: String?
  /// `xml:base` of the document, or the context of JSON without `$metadata`.
  public var baseURL: String?
  public var workspaces: [ODataWorkspace]
  /// Links of the document itself (`self`, `latest-version`).
  public var links: [ODataLink]
  public var diagnostics: [ODataDiagnostic]
  /// The metadata, once `attach` was called.
  public private(set) var metadata: EdmMetadata?

  public init(workspaces: [ODataWorkspace] = []) {
    self.workspaces = workspaces
    serverType = .odata
    links = []
    diagnostics = []
  }

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
  public let workspaces: [ODataWorkspace]
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
  public var title: String?
  public var semantic: ODataWorkspaceSemantic
  public var collections: [ODataCollection]

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
    case entitySet = "EntitySet"
    case singleton = "Singleton"
    case functionImport = "FunctionImport"
    case serviceDocument = "ServiceDocument"
  }

  public var kind: Kind
  /// The address relative to the service.
  public var href: String
  public var name: String
  /// The plural that people read.
  public var title: String?
  /// The singular that people read.
  public var memberTitle: String?
  public var flags: ODataCollectionFlags
  public var contentVersion: Int
  public var semantic: ODataCollectionSemantic
  public var displayOrder: Int
  /// Addresses of icons, with their sizes and types as links.
  public var icons: [ODataLink]
  public var links: [ODataLink]
  /// Media types that can be posted.
  public var accepts: [String]
  public var attributes: EdmAttributes
  /// The schema of the entries, once metadata was attached.
  public var entitySchema: ODataEntitySchema?
  /// The description of how to search, once it was fetched and read.
  public var openSearchDescription: ODataOpenSearchDescription?

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

  public var isCreatable: Bool { flags.contains(.creatable) }
  public var isUpdatable: Bool { flags.contains(.updatable) }
  public var isDeletable: Bool { flags.contains(.deletable) }
  public var isTopLevel: Bool { flags.contains(.topLevel) }
  public var isSearchable: Bool { flags.contains(.searchable) }
  public var requiresFilter: Bool { flags.contains(.requiresFilter) }
  public var hasMedia: Bool {
    flags.contains(.hasMedia) || entitySchema?.flags.contains(.hasMedia) == true
  }
  /// Where to subscribe to changes.
  public var subscriptionLink: ODataLink? { links.first { $0.role == .subscriptions } }
  /// Where the OpenSearch description is.
  public var openSearchLink: ODataLink? { links.first { $0.role == .search } }
}
