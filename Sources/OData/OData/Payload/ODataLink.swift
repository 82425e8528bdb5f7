/// What a link of an entry, a feed or a collection leads to.
///
/// Reference: ios/1.O `SDMODataLink`, `SDMODataRelatedLink`, `SDMODataMediaResourceLink`,
/// `SDMODataActionLink`; `TEN_LINK_SEMANTICS`.
public struct ODataLink: Sendable, Hashable {
  /// What the link is for, read from its relation.
  public enum Role: Sendable, Hashable {
    /// `rel="edit"`: where the entry is changed or deleted.
    case edit
    /// `rel="self"`: where the entry or feed is read.
    case `self`
    /// `rel="next"`: the next page of a feed.
    case next
    /// `rel="delta"`: later changes of a feed.
    case delta
    /// The entry or feed of a navigation property.
    case related(String)
    /// The address of the relation itself, for linking and unlinking.
    case association(String)
    /// The media resource, to read it (`content src`) or to write it.
    case editMedia
    /// A named stream of V3 and V4.
    case stream(String)
    /// A named stream of V3 and V4, to write it.
    case editStream(String)
    /// An action that the service offers for the entry (`sap:semantics="action"` or relation).
    case action
    /// `sap:semantics="callable-entities"`, or a relation with this ending.
    case callableEntities
    /// Where an app subscribes to changes.
    case subscriptions
    /// An OpenSearch description.
    case search
    /// Any relation that is not known.
    case other
  }

  /// The semantics of the reference.
  public enum Semantic: Sendable, Hashable {
    /// A link of plain OData.
    case none
    /// Calling it performs something.
    case action
    /// Entities that can be called, `sap:semantics="callable-entities"`.
    case callableEntities
    /// Where an app subscribes to changes.
    case subscriptions
  }

  /// The relation as the document writes it.
  public var relation: String
  /// The address, made absolute where a base is known.
  public var href: String
  /// The media type behind it, such as `image/png`; nil where absent.
  public var type: String?
  /// A caption, or the navigation property; nil where absent.
  public var title: String?
  /// Derived from the relation, or from `sap:semantics` where present.
  public var role: Role
  /// ETag of the media resource behind the link: the concurrency token of the reference.
  public var etag: String?
  /// The HTTP method of an action link.
  public var method: String?
  /// Content that was delivered with the link.
  public var inline: ODataInline?
  /// Attributes in foreign namespaces, by name (`sap:semantics` as `semantics`).
  public var attributes: [String: String]

  /// The role is derived from the relation unless given.
  public init(
    relation: String, href: String, type: String? = nil, title: String? = nil,
    role: Role? = nil, inline: ODataInline? = nil
  ) {
    self.relation = relation
    self.href = href
    self.type = type
    self.title = title
    self.role = role ?? Role(relation: relation, title: title, semantics: nil)
    self.inline = inline
    attributes = [:]
  }

  /// Derived from `role`; `none` for all roles without a counterpart.
  public var semantic: Semantic {
    switch role {
    case .action: .action
    case .callableEntities: .callableEntities
    case .subscriptions: .subscriptions
    default: .none
    }
  }

  /// The navigation property of a related link.
  public var navigation: String? { if case .related(let name) = role { name } else { nil } }

  /// A link to the entry or feed of a navigation property.
  public static func related(
    _ name: String, href: String = "", inline: ODataInline? = nil
  ) -> ODataLink {
    ODataLink(
      relation: ODataRelation.related + name, href: href, title: name, role: .related(name),
      inline: inline)
  }
}

/// What was delivered inside a link.
public indirect enum ODataInline: Sendable, Hashable {
  /// One entry, or nil where the service says that there is none.
  case entry(ODataEntry?)
  /// Entries of a navigation property that leads to many.
  case feed(ODataFeed)

  /// The single entry; nil for a feed or where there is none.
  public var entry: ODataEntry? { if case .entry(let entry) = self { entry } else { nil } }
  /// Entries of a navigation property that leads to many.
  public var feed: ODataFeed? { if case .feed(let feed) = self { feed } else { nil } }

  /// The entries, however many.
  public var entries: [ODataEntry] {
    switch self {
    case .entry(let entry): entry.map { [$0] } ?? []
    case .feed(let feed): feed.entries
    }
  }
}

/// The addresses that stand for relations.
enum ODataRelation {
  static let related = "http://schemas.microsoft.com/ado/2007/08/dataservices/related/"
  static let association =
    "http://schemas.microsoft.com/ado/2007/08/dataservices/relatedlinks/"
  static let stream = "http://schemas.microsoft.com/ado/2007/08/dataservices/mediaresource/"
  static let editStream = "http://schemas.microsoft.com/ado/2007/08/dataservices/edit-media/"
  static let scheme = "http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"
  static let related4 = "http://docs.oasis-open.org/odata/ns/related/"
  static let association4 = "http://docs.oasis-open.org/odata/ns/relatedlinks/"
  static let stream4 = "http://docs.oasis-open.org/odata/ns/mediaresource/"
  static let editStream4 = "http://docs.oasis-open.org/odata/ns/edit-media/"
  static let scheme4 = "http://docs.oasis-open.org/odata/ns/scheme"
  static let delta4 = "http://docs.oasis-open.org/odata/ns/delta"
}

extension ODataLink.Role {
  init(relation: String, title: String?, semantics: String?) {
    switch semantics {
    case "action": self = .action
    case "callable-entities": self = .callableEntities
    case "subscriptions": self = .subscriptions
    default:
      if let role = Self.ofProperty(relation) {
        self = role
        return
      }
      switch relation {
      case "edit", "http://www.iana.org/assignments/relation/edit": self = .edit
      case "self", "http://www.iana.org/assignments/relation/self": self = .`self`
      case "next", "http://www.iana.org/assignments/relation/next": self = .next
      case "edit-media": self = .editMedia
      case "delta", ODataRelation.delta4: self = .delta
      case "search": self = .search
      case "action": self = .action
      default:
        if relation.hasSuffix("/action") || relation.hasSuffix("#action") {
          self = .action
        } else if relation.hasSuffix("callable-entities") {
          self = .callableEntities
        } else if relation.hasSuffix("subscriptions") {
          self = .subscriptions
        } else {
          self = .other
        }
      }
    }
  }

  /// The role of a relation that begins with an address of OData and ends with a property.
  private static func ofProperty(_ relation: String) -> ODataLink.Role? {
    guard relation.utf8.count > 20 else { return nil }
    func rest(_ first: String, _ second: String) -> String? {
      for prefix in [first, second] where relation.hasPrefix(prefix) {
        return String(relation.dropFirst(prefix.count))
      }
      return nil
    }
    if let name = rest(ODataRelation.related, ODataRelation.related4) { return .related(name) }
    if let name = rest(ODataRelation.association, ODataRelation.association4) {
      return .association(name)
    }
    if let name = rest(ODataRelation.stream, ODataRelation.stream4) { return .stream(name) }
    return rest(ODataRelation.editStream, ODataRelation.editStream4).map { .editStream($0) }
  }
}
