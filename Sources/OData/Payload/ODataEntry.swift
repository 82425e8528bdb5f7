/// One entity as a payload brings it, from Atom or JSON of any version.
///
/// Reference: ios/1.O `SDMODataEntry`, ios/PAR-9, PAR-12; adr/PAX-4, PBX-9.
public struct ODataEntry: Sendable, Hashable {
  /// The identity: an address that need not lead anywhere.
  public var id: String?
  /// The qualified type.
  public var type: String?
  public var etag: String?
  public var title: String?
  public var summary: String?
  public var author: String?
  public var updated: String?
  public var published: String?
  public var rights: String?
  public var properties: ODataProperties
  /// All links with what they brought inline.
  public var links: [ODataLink]
  /// The media resource; nil for an entry that has none.
  public var media: ODataMedia?
  /// Actions and functions that the service offers for this entry.
  public var operations: [ODataOperation]
  /// Annotations of the entry by term.
  public var annotations: [String: EdmValue]
  /// Whether the service marks it as a reference only (`m:ref`, `@odata.id` alone).
  public var isReference: Bool
  /// The `@odata.context`, or nil.
  public var context: String?

  public init(type: String? = nil, _ properties: ODataProperties = [:]) {
    self.type = type
    self.properties = properties
    links = []
    operations = []
    annotations = [:]
    isReference = false
  }

  /// The value of a property; nil where there was none, `.null` where it was null.
  public subscript(name: String) -> EdmValue? {
    get { properties[name] }
    set { properties[name] = newValue }
  }

  /// The value at a path of names separated by `\` or `/`.
  public subscript(path path: String) -> EdmValue? { properties[path: path] }

  /// What came inline for a navigation property.
  public func inline(_ navigation: String) -> ODataInline? { relatedLink(navigation)?.inline }

  /// The link of a navigation property (`getRelatedLinkByNavigationPropertyName`).
  public func relatedLink(_ navigation: String) -> ODataLink? {
    links.first { $0.navigation == navigation }
  }

  public var relatedLinks: [ODataLink] { links.filter { $0.navigation != nil } }
  public var actionLinks: [ODataLink] { links.filter { $0.role == .action } }
  public var editLink: String? { links.first { $0.role == .edit }?.href }
  public var selfLink: String? { links.first { $0.role == .self }?.href }
  public var subscriptionLink: ODataLink? { links.first { $0.role == .subscriptions } }

  /// Links to change media: `edit-media` and editable named streams.
  public var mediaLinksForEditing: [ODataLink] {
    links.filter { if case .editStream = $0.role { true } else { $0.role == .editMedia } }
  }

  /// Links to read media: named streams, and the media resource itself.
  public var mediaLinksForReading: [ODataLink] {
    var found = links.filter { if case .stream = $0.role { true } else { false } }
    if let source = media?.source {
      var link = ODataLink(relation: "media", href: source, type: media?.contentType, role: .other)
      link.etag = media?.etag
      found.insert(link, at: 0)
    }
    return found
  }
}

/// The media resource of a media link entry.
public struct ODataMedia: Sendable, Hashable {
  public var contentType: String?
  /// Where to read it.
  public var source: String?
  /// Where to change it.
  public var editLink: String?
  /// The concurrency token of the reference.
  public var etag: String?

  public init(
    contentType: String? = nil, source: String? = nil, editLink: String? = nil, etag: String? = nil
  ) {
    self.contentType = contentType
    self.source = source
    self.editLink = editLink
    self.etag = etag
  }
}

/// An action or function that a service offers inside an entry or feed.
public struct ODataOperation: Sendable, Hashable {
  public var isFunction: Bool
  /// The address of its declaration, such as `#NS.Approve`.
  public var metadata: String
  public var title: String?
  public var target: String?

  public init(isFunction: Bool, metadata: String, title: String? = nil, target: String? = nil) {
    self.isFunction = isFunction
    self.metadata = metadata
    self.title = title
    self.target = target
  }
}

/// An entry that is gone, in a feed of changes.
public struct ODataDeletedEntry: Sendable, Hashable {
  public var id: String
  public var when: String?
  /// `deleted` or `changed` (no longer in the answer's condition).
  public var reason: String?
  /// What is still known of it: 4.01 may send the key.
  public var properties: ODataProperties

  public init(
    id: String, when: String? = nil, reason: String? = nil, properties: ODataProperties = [:]
  ) {
    self.id = id
    self.when = when
    self.reason = reason
    self.properties = properties
  }
}

/// A relation that was added or removed, in a feed of changes.
public struct ODataChangedLink: Sendable, Hashable {
  public var isDeleted: Bool
  public var source: String
  public var relationship: String
  public var target: String

  public init(isDeleted: Bool, source: String, relationship: String, target: String) {
    self.isDeleted = isDeleted
    self.source = source
    self.relationship = relationship
    self.target = target
  }
}

/// What a feed holds, one after the other.
public enum ODataItem: Sendable, Hashable {
  case entry(ODataEntry)
  case deleted(ODataDeletedEntry)
  case link(ODataChangedLink)
  /// A value of a collection that is no entity.
  case value(EdmValue)
}

/// What a feed says of itself.
public struct ODataFeedHead: Sendable, Hashable {
  public var id: String?
  public var title: String?
  public var updated: String?
  public var author: String?
  /// The number of all entries as the service states it, in its own text.
  public var count: String?
  /// Where the rest is.
  public var next: String?
  /// Where later changes will be.
  public var delta: String?
  public var context: String?
  public var links: [ODataLink] = []
  public var annotations: [String: EdmValue] = [:]

  public init() {}
}

/// A feed that was read whole.
public struct ODataFeed: Sendable, Hashable {
  public var head: ODataFeedHead
  public var items: [ODataItem]

  public init(_ entries: [ODataEntry] = [], head: ODataFeedHead = ODataFeedHead()) {
    self.head = head
    items = entries.map { .entry($0) }
  }

  public var entries: [ODataEntry] {
    items.compactMap { if case .entry(let entry) = $0 { entry } else { nil } }
  }

  public var deletedEntries: [ODataDeletedEntry] {
    items.compactMap { if case .deleted(let entry) = $0 { entry } else { nil } }
  }

  public var count: String? { head.count }
  public var next: String? { head.next }
  public var delta: String? { head.delta }
}
