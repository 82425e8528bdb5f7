/// One entity as a payload brings it, from Atom or JSON of any version.
///
/// Reference: ios/1.O `SDMODataEntry`, ios/PAR-9, PAR-12; adr/PAX-4, PBX-9.
public struct ODataEntry: Sendable, Hashable {
  /// The identity: an address that need not lead anywhere.
  public var id: String?
  /// The qualified type.
  public var type: String?
  /// For `If-Match` when it is changed or deleted; nil where the service sends none.
  public var etag: String?
  /// `atom:title`; JSON has none.
  public var title: String?
  /// `atom:summary`; JSON has none.
  public var summary: String?
  /// The name inside `atom:author`; JSON has none.
  public var author: String?
  /// `atom:updated` as text, such as `2024-05-01T12:00:00Z`; JSON has none.
  public var updated: String?
  /// `atom:published` as text; JSON has none.
  public var published: String?
  /// `atom:rights`; JSON has none.
  public var rights: String?
  /// In the order of the document, without navigation properties.
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

  /// Without identity, links or media, as for an entry that is to be created.
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

  /// Those that lead to the entry or feed of a navigation property.
  public var relatedLinks: [ODataLink] { links.filter { $0.navigation != nil } }
  /// Links with `sap:semantics="action"` or the relation of an action.
  public var actionLinks: [ODataLink] { links.filter { $0.role == .action } }
  /// Where to change or delete it; nil without `rel="edit"`.
  public var editLink: String? { links.first { $0.role == .edit }?.href }
  /// Where to read it; nil without `rel="self"`.
  public var selfLink: String? { links.first { $0.role == .self }?.href }
  /// Where to subscribe to its changes; nil without such a link.
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
  /// Such as `image/png`; nil where the payload does not name it.
  public var contentType: String?
  /// Where to read it.
  public var source: String?
  /// Where to change it.
  public var editLink: String?
  /// The concurrency token of the reference.
  public var etag: String?

  /// Nil for whatever the service does not report.
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
  /// False for an action, which needs `POST`.
  public var isFunction: Bool
  /// The address of its declaration, such as `#NS.Approve`.
  public var metadata: String
  /// The caption for people; nil where the payload has none.
  public var title: String?
  /// The address to call; nil where the client must derive it.
  public var target: String?

  /// Without a caption and an address unless given.
  public init(isFunction: Bool, metadata: String, title: String? = nil, target: String? = nil) {
    self.isFunction = isFunction
    self.metadata = metadata
    self.title = title
    self.target = target
  }
}

/// An entry that is gone, in a feed of changes.
public struct ODataDeletedEntry: Sendable, Hashable {
  /// The identity that the entry had, as its payload named it.
  public var id: String
  /// The time of the deletion as text; nil where the service does not say.
  public var when: String?
  /// `deleted` or `changed` (no longer in the answer's condition).
  public var reason: String?
  /// What is still known of it: 4.01 may send the key.
  public var properties: ODataProperties

  /// Only the identity is required.
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
  /// True for `deleted-link`, false for `link`: the relation was added.
  public var isDeleted: Bool
  /// The identity of the entry that the link starts at.
  public var source: String
  /// The navigation property, such as `Items`.
  public var relationship: String
  /// The identity of the entry that the link leads to.
  public var target: String

  /// Source and target are identities of entries.
  public init(isDeleted: Bool, source: String, relationship: String, target: String) {
    self.isDeleted = isDeleted
    self.source = source
    self.relationship = relationship
    self.target = target
  }
}

/// What a feed holds, one after the other.
public enum ODataItem: Sendable, Hashable {
  /// An entry that was added, changed or simply selected.
  case entry(ODataEntry)
  /// Only in a feed of changes.
  case deleted(ODataDeletedEntry)
  /// Only in a feed of changes.
  case link(ODataChangedLink)
  /// A value of a collection that is no entity.
  case value(EdmValue)
}

/// What a feed says of itself.
public struct ODataFeedHead: Sendable, Hashable {
  /// `atom:id`; an address that need not lead anywhere.
  public var id: String?
  /// `atom:title`; JSON has none.
  public var title: String?
  /// `atom:updated` as text; JSON has none.
  public var updated: String?
  /// The name inside `atom:author`; JSON has none.
  public var author: String?
  /// The number of all entries as the service states it, in its own text.
  public var count: String?
  /// Where the rest is.
  public var next: String?
  /// Where later changes will be.
  public var delta: String?
  /// The context URL of V4, which names set and type; nil where absent.
  public var context: String?
  /// All links of the feed, also those for the next page and for changes.
  public var links: [ODataLink] = []
  /// By qualified term; empty where the feed has none.
  public var annotations: [String: EdmValue] = [:]

  /// Empty, for a feed that is written without a head of its own.
  public init() {}
}

/// A feed that was read whole.
public struct ODataFeed: Sendable, Hashable {
  /// Links, count and annotations that belong to no single entry.
  public var head: ODataFeedHead
  /// Entries, deletions, links and values in the order of the document.
  public var items: [ODataItem]

  /// A feed that holds just these entries.
  public init(_ entries: [ODataEntry] = [], head: ODataFeedHead = ODataFeedHead()) {
    self.head = head
    items = entries.map { .entry($0) }
  }

  /// The items without deletions, changed links and values.
  public var entries: [ODataEntry] {
    items.compactMap { if case .entry(let entry) = $0 { entry } else { nil } }
  }

  /// Empty unless the feed lists changes.
  public var deletedEntries: [ODataDeletedEntry] {
    items.compactMap { if case .deleted(let entry) = $0 { entry } else { nil } }
  }

  /// The number of entries on all pages, as text; nil where the service does not state it.
  public var count: String? { head.count }
  /// The address of the next page; nil on the last one.
  public var next: String? { head.next }
  /// The address for later changes; nil where the service tracks none.
  public var delta: String? { head.delta }
}
