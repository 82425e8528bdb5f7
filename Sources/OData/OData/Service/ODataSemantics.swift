/// What a workspace is for (`TEN_WORKSPACE_SEMANTICS`).
public enum ODataWorkspaceSemantic: Int, Sendable, Hashable {
  /// `things`: objects of the business.
  case things = 0
  /// `worklists`: tasks that wait for someone.
  case worklists = 1
  /// `data`, and where the workspace names nothing.
  case data = 2
  /// `subscriptions`, `notifications` or both words joined by a hyphen.
  case subscriptionsNotifications = 3
  /// A word that is not known.
  case unknown = 1000

  init(_ text: String?) {
    switch text?.lowercased() {
    case "things": self = .things
    case "worklists": self = .worklists
    case "data", nil: self = .data
    case "subscriptions-notifications", "subscriptions", "notifications":
      self = .subscriptionsNotifications
    default: self = .unknown
    }
  }
}

/// What a collection holds beside plain data (`TEN_COLLECTION_SEMANTICS`).
public enum ODataCollectionSemantic: Int, Sendable, Hashable {
  /// Plain data: the collection names nothing.
  case none = 0
  /// Posting an entry here subscribes to changes.
  case subscriptions = 1
  /// Entries report changes that were subscribed to.
  case notifications = 2
  /// Entries are users of the service.
  case users = 3
  /// A word that is not known.
  case unknown = 1000

  init(_ text: String?) {
    switch text?.lowercased() {
    case nil, "": self = .none
    case "subscriptions": self = .subscriptions
    case "notifications": self = .notifications
    case "users": self = .users
    default: self = .unknown
    }
  }
}

/// Which kind of service speaks (`TEN_SERVER_TYPES`).
public enum ODataServerType: Int, Sendable, Hashable {
  /// A service without SAP's annotations.
  case odata = 0
  /// Kept for the reference's number; reading never yields it.
  case lms = 1
  /// A service document whose collections carry attributes of SAP.
  case gateway = 2
}

/// What one may do with a collection; the values are the reference's.
public struct ODataCollectionFlags: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// 0x01: entries can be posted.
  public static let creatable = ODataCollectionFlags(rawValue: 0x01)
  /// 0x02: entries can be changed.
  public static let updatable = ODataCollectionFlags(rawValue: 0x02)
  /// 0x04: entries can be deleted.
  public static let deletable = ODataCollectionFlags(rawValue: 0x04)
  /// 0x08: reading needs a `$filter`.
  public static let requiresFilter = ODataCollectionFlags(rawValue: 0x08)
  /// 0x10: people may start here, `sap:topLevel`.
  public static let topLevel = ODataCollectionFlags(rawValue: 0x10)
  /// 0x20: the option `search` is understood.
  public static let searchable = ODataCollectionFlags(rawValue: 0x20)
  /// 0x40: entries are media link entries.
  public static let hasMedia = ODataCollectionFlags(rawValue: 0x40)
  /// What holds without annotations: anything can be changed, and people may start here.
  public static let standard: ODataCollectionFlags = [
    .creatable, .updatable, .deletable, .topLevel,
  ]
}

/// What one may do with the entities of a schema; the values are the reference's.
public struct ODataEntitySchemaFlags: OptionSet, Sendable, Hashable {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }
  /// 0x01: entities can be posted.
  public static let creatable = ODataEntitySchemaFlags(rawValue: 0x01)
  /// 0x02: entities can be changed.
  public static let updatable = ODataEntitySchemaFlags(rawValue: 0x02)
  /// 0x04: entities can be deleted.
  public static let deletable = ODataEntitySchemaFlags(rawValue: 0x04)
  /// 0x08: the option `search` is understood.
  public static let searchable = ODataEntitySchemaFlags(rawValue: 0x08)
  /// 0x10: set for every entity set.
  public static let queryable = ODataEntitySchemaFlags(rawValue: 0x10)
  /// 0x20: reading needs a `$filter`.
  public static let requiresFilter = ODataEntitySchemaFlags(rawValue: 0x20)
  /// 0x40: entities are media link entries.
  public static let hasMedia = ODataEntitySchemaFlags(rawValue: 0x40)
}

/// What one may do with a property; the values are the reference's.
public struct ODataPropertyFlags: OptionSet, Sendable, Hashable {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }
  /// 0x01: null is a valid value.
  public static let nullable = ODataPropertyFlags(rawValue: 0x01)
  /// 0x02: part of the entity's key.
  public static let key = ODataPropertyFlags(rawValue: 0x02)
  /// 0x04: a new entity may set it.
  public static let creatable = ODataPropertyFlags(rawValue: 0x04)
  /// 0x08: a change may set it.
  public static let updatable = ODataPropertyFlags(rawValue: 0x08)
  /// 0x10: usable in `$filter`.
  public static let filterable = ODataPropertyFlags(rawValue: 0x10)
  /// 0x20: people see it in lists.
  public static let visibleInList = ODataPropertyFlags(rawValue: 0x20)
  /// 0x40: people see it on the page of one entity.
  public static let visibleInDetail = ODataPropertyFlags(rawValue: 0x40)
  /// 0x80: the option `search` looks at it.
  public static let searchable = ODataPropertyFlags(rawValue: 0x80)
  /// 0x200: the service makes the value.
  public static let serverGenerated = ODataPropertyFlags(rawValue: 0x200)
  /// 0x400: Atom has it only where a feed mapping puts it.
  public static let notInContent = ODataPropertyFlags(rawValue: 0x400)
}

/// What the value of a property means to a person's address book, calendar or map.
public struct ODataPropertySemantics: Sendable, Hashable {
  /// The reference's values of `TEN_PROPERTY_SEMANTICS`.
  public enum Kind: UInt32, Sendable, Hashable {
    /// The property has no `sap:semantics`.
    case none = 0
    /// A telephone number; the sub-types say `home`, `work`, `cell` and so on.
    case tel = 1
    /// An e-mail address; the sub-types are `home`, `work` and `pref`.
    case email = 4
    /// A web address; the sub-types are `home`, `work`, `pref`, `org` and `other`.
    case url = 8
    /// Part of a person's name, such as `givenname` or `familyname`.
    case name = 0x10
    /// What precedes a name, such as Dr.
    case honorific = 0x20
    /// What follows a name, such as Jr.
    case suffix = 0x40
    /// Free text about a person.
    case note = 0x80
    /// The picture of a person.
    case photo = 0x100
    /// Part of a postal address, such as `city`, `street` or `zip`.
    case address = 0x200
    /// An organization: `org`, `org-unit` or `org-role`.
    case org = 0x400
    /// A person's job title.
    case title = 0x800
    /// A date of birth.
    case bday = 0x1000
    /// Part of an appointment or task, such as `dtstart` or `due`.
    case calendar = 0x2000
    /// A longitude or latitude: `geo-lon`, `geo-lat` and their long forms.
    case geolocation = 0x4000
    /// A word that is not known; `text` has it.
    case userDefined = 0x8000_0000
  }

  /// The first word of the text, before any semicolon.
  public let kind: Kind
  /// The sub-types, in the numbers of the reference; combined for telephones.
  public let types: UInt32
  /// The text as the service wrote it.
  public let text: String?

  /// Reads `tel;type=cell,work`, `city`, `dtstart` and the like.
  public init(_ text: String?) {
    self.text = text
    guard let text, !text.isEmpty else {
      (kind, types) = (.none, 0)
      return
    }
    let parts = text.lowercased().split(separator: ";")
    let word = parts.first.map(String.init) ?? ""
    let named =
      parts.dropFirst().first { $0.hasPrefix("type=") }?.dropFirst(5)
      .split(separator: ",").map(String.init) ?? []
    func combined(_ numbers: [String: UInt32]) -> UInt32 {
      named.reduce(0) { $0 | (numbers[$1] ?? 0) }
    }
    switch word {
    case "tel":
      kind = .tel
      types = combined(Self.telephones)
    case "email":
      kind = .email
      types = combined(["home": 1, "work": 2, "pref": 4])
    case "url":
      kind = .url
      types = combined(["home": 1, "work": 2, "pref": 4, "org": 8, "other": 0x10])
    default:
      (kind, types) = Self.words[word] ?? (.userDefined, 0)
    }
  }

  private static let telephones: [String: UInt32] = [
    "home": 1, "work": 2, "pref": 4, "msg": 8, "voice": 0x10, "fax": 0x20, "cell": 0x40,
    "video": 0x80, "pager": 0x100, "bbs": 0x200, "modem": 0x400, "car": 0x800, "isdn": 0x1000,
    "pcs": 0x2000,
  ]

  private static let words: [String: (Kind, UInt32)] = {
    var words: [String: (Kind, UInt32)] = [
      "name": (.name, 0), "givenname": (.name, 1), "middlename": (.name, 2),
      "familyname": (.name, 3), "nickname": (.name, 4), "honorific": (.honorific, 0),
      "suffix": (.suffix, 0), "note": (.note, 0), "photo": (.photo, 0), "title": (.title, 0),
      "bday": (.bday, 0), "city": (.address, 0x100), "street": (.address, 0x110),
      "country": (.address, 0x120), "region": (.address, 0x130), "zip": (.address, 0x140),
      "pobox": (.address, 0x150), "org-unit": (.org, 1), "org-role": (.org, 2), "org": (.org, 8),
      "geo-lon": (.geolocation, 0), "geo-lat": (.geolocation, 1), "longitude": (.geolocation, 0),
      "latitude": (.geolocation, 1),
    ]
    let calendar = [
      "summary", "description", "categories", "dtstart", "dtend", "duration", "due", "completed",
      "priority", "class", "status", "percent-complete", "contact", "location", "transp", "fbtype",
      "wholeday",
    ]
    for (index, word) in calendar.enumerated() { words[word] = (.calendar, UInt32(index + 1)) }
    return words
  }()
}
