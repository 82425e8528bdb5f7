import FerryHTTP

/// What is to be done with an entry; the values are the reference's `TEN_ENTRY_OPERATIONS`.
public enum ODataEntryOperation: Int, Sendable, Hashable {
  /// A new entry, sent with `POST` and without an identity.
  case create = 0
  /// All properties; what is left out gets its default.
  case updateFull = 1
  /// Only what is written is changed.
  case updateIncremental = 2
  /// The whole entry with identity, links and ETag, to be kept or served; never sent as a change.
  case archive = 3
}

/// A request as it has to be sent.
public struct ODataRequestBody: Sendable, Hashable {
  /// Such as `POST`, `MERGE` or `PATCH`.
  public var method: String
  /// UTF-8; empty for a request without content.
  public var body: [UInt8]
  /// `Content-Type`, version, `If-Match`, `Slug`, in this order where they apply.
  public var headers: [Header]

  /// A header to be sent.
  public struct Header: Sendable, Hashable {
    /// Such as `Content-Type`.
    public let name: String
    /// Without a line break.
    public let value: String

    /// Neither text is checked.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  package init(method: String, body: [UInt8], headers: [Header]) {
    self.method = method
    self.body = body
    self.headers = headers
  }

  /// The body as UTF-8 text, to be logged or tested.
  public var text: String { String(decoding: body, as: UTF8.self) }
  /// Nil where it is absent; upper and lower case differ.
  public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// Writes entries, feeds, links and calls, in Atom or JSON of V2 to V4.
///
/// What is written and read again is equal. Where a format has no way to say something (a
/// collection in V2, a control character in XML), `unwritable` is thrown rather than dropped.
/// Reference: ios/PAR-7, PAR-8, PAR-11, adr/PAX-2, PBX-9.
public struct ODataComposer: Sendable {
  /// Decides between MERGE and PATCH, and how values are written.
  public var version: ODataVersion
  /// Atom, or JSON in the shape of the version.
  public var format: ODataFormat
  /// Names keys, and lets types that the schema declares go unmarked in JSON.
  public var metadata: EdmMetadata?
  /// Whether what is inside links is written too.
  public var writesInline: Bool
  /// Whether 64-bit integers and decimals are strings in V4 JSON, for readers with doubles only.
  public var isIEEE754Compatible: Bool
  /// Qualified types whose entries go unmarked in V4 JSON, because the context tells their type.
  public var unmarkedTypes: Set<String> = []
  /// What a deleted entry of V4 JSON says of itself, as 4.0 has it; nil: as 4.01 has it.
  package var deletedContext: String?

  /// Writes inline entries, and 64-bit numbers of V4 JSON as numbers, unless set otherwise.
  public init(
    _ format: ODataFormat, version: ODataVersion, metadata: EdmMetadata? = nil,
    writesInline: Bool = true, isIEEE754Compatible: Bool = false
  ) {
    self.format = format
    self.version = version
    self.metadata = metadata
    self.writesInline = writesInline
    self.isIEEE754Compatible = isIEEE754Compatible
  }

  /// POST of a new entry; entries inside its links are created with it (deep insert), and links
  /// made with `ODataLink.bind` are set.
  public func create(_ entry: ODataEntry) throws(ODataError) -> ODataRequestBody {
    request("POST", try body(entry, .create), entry: nil)
  }

  /// PUT of the whole entry. Entries inside its links go along where the version allows it.
  public func update(_ entry: ODataEntry) throws(ODataError) -> ODataRequestBody {
    request("PUT", try body(entry, .updateFull), entry: entry)
  }

  /// MERGE (V2) or PATCH (V3, V4) of what differs from the original, keys left out; nil where
  /// nothing does.
  public func merge(
    _ entry: ODataEntry, changedFrom original: ODataEntry
  ) throws(ODataError) -> ODataRequestBody? {
    var changed = entry
    changed.properties = difference(entry.properties, original.properties, isRoot: true)
    let keys = Set(keyNames(entry.type ?? original.type))
    changed.properties = ODataProperties(changed.properties.filter { !keys.contains($0.name) })
    changed.links = entry.links.filter {
      !original.links.contains($0) && ($0.inline != nil || $0.isBinding)
    }
    if changed.properties.isEmpty && changed.links.isEmpty { return nil }
    changed.etag = entry.etag ?? original.etag
    return try patch(changed)
  }

  /// MERGE (V2) or PATCH (V3, V4) of exactly the properties that the entry has.
  public func patch(_ entry: ODataEntry) throws(ODataError) -> ODataRequestBody {
    request(version < .v3 ? "MERGE" : "PATCH", try body(entry, .updateIncremental), entry: entry)
  }

  /// The entry as a document of its own, whatever the operation.
  public func body(
    _ entry: ODataEntry, _ operation: ODataEntryOperation
  ) throws(ODataError) -> [UInt8] {
    switch format {
    case .atom: try AtomComposer(self, operation).entry(entry)
    case .json: try JSONComposer(self, operation).document(entry)
    }
  }

  /// A feed as a document of its own.
  public func body(
    _ feed: ODataFeed, _ operation: ODataEntryOperation = .archive
  ) throws(ODataError) -> [UInt8] {
    switch format {
    case .atom: try AtomComposer(self, operation).feed(feed)
    case .json: try JSONComposer(self, operation).document(feed)
    }
  }

  /// A link to another entity: POST adds one to a collection, PUT sets the only one.
  public func link(
    to uri: String, isCollection: Bool
  ) throws(ODataError) -> ODataRequestBody {
    let body: [UInt8]
    switch format {
    case .json: body = JSONComposer.link(uri, version)
    case .atom: body = try AtomComposer.link(uri, version)
    }
    var request = request(isCollection ? "POST" : "PUT", body, entry: nil)
    if format == .atom {
      request.headers[0] = .init(name: "Content-Type", value: "application/xml")
    }
    return request
  }

  /// POST of a new media resource; the service makes the entry beside it.
  public func media(
    _ bytes: [UInt8], contentType: String, slug: String? = nil
  ) -> ODataRequestBody {
    var headers = [ODataRequestBody.Header(name: "Content-Type", value: contentType)]
    if let slug {
      // RFC 5023: what is not plain ASCII, and the percent sign, are percent-encoded UTF-8.
      let kept = (0x20...0x7E).filter { $0 != 0x25 }.map { Character(Unicode.Scalar($0)) }
      headers.append(
        .init(name: "Slug", value: PercentEncoding.encode(slug, keeping: String(kept))))
    }
    return ODataRequestBody(method: "POST", body: bytes, headers: headers)
  }

  /// PUT of a changed media resource, under its concurrency token.
  public func updateMedia(
    _ bytes: [UInt8], of media: ODataMedia, contentType: String
  ) -> ODataRequestBody {
    var headers = [ODataRequestBody.Header(name: "Content-Type", value: contentType)]
    if let etag = media.etag { headers.append(.init(name: "If-Match", value: etag)) }
    return ODataRequestBody(method: "PUT", body: bytes, headers: headers)
  }

  /// The parameters of an action of V3 or V4.
  public func action(_ parameters: ODataProperties) throws(ODataError) -> ODataRequestBody {
    switch format {
    case .json: request("POST", try JSONComposer(self, .create).parameters(parameters), entry: nil)
    case .atom: request("POST", try AtomComposer(self, .create).parameters(parameters), entry: nil)
    }
  }

  /// POST of a subscription to changes of a collection, sent to its subscription link.
  public func subscription(_ subscription: ODataSubscription) throws(ODataError) -> ODataRequestBody
  {
    var entry = ODataEntry(type: subscription.type)
    entry.title = subscription.title
    entry.properties = [
      "deliveryAddress": .string(subscription.deliveryAddress),
      "persistNotifications": .boolean(subscription.persistsNotifications),
      "collection": .string(subscription.collection), "filter": .string(subscription.filter),
      "select": .string(subscription.select), "changeType": .string(subscription.changeType),
    ]
    return try create(entry)
  }

  func keyNames(_ type: String?) -> [String] {
    guard let type, let metadata, let found = metadata.structuredType(type) else { return [] }
    return metadata.keys(of: found).map(\.name)
  }

  private func difference(
    _ new: ODataProperties, _ old: ODataProperties, isRoot: Bool
  ) -> ODataProperties {
    var changed = ODataProperties()
    for property in new {
      guard let before = old[property.name] else {
        changed.append(property)
        continue
      }
      guard before != property.value || property.value.text != before.text else { continue }
      // V4 may change a part of a complex value; before, the whole value is replaced.
      if version >= .v4, case .complex(var inner) = property.value, let was = before.complex,
        inner.type == was.type, Set(was.properties.names).isSubset(of: inner.properties.names)
      {
        inner.properties = difference(inner.properties, was.properties, isRoot: false)
        if inner.properties.isEmpty { continue }
        var part = property
        part.value = .complex(inner)
        changed.append(part)
      } else {
        changed.append(property)
      }
    }
    return changed
  }

  private func request(_ method: String, _ body: [UInt8], entry: ODataEntry?) -> ODataRequestBody {
    var headers: [ODataRequestBody.Header] = []
    func add(_ name: String, _ value: String) { headers.append(.init(name: name, value: value)) }
    switch (format, version) {
    case (.atom, _): add("Content-Type", "application/atom+xml;type=entry;charset=utf-8")
    case (.json, .v4):
      add(
        "Content-Type",
        "application/json;odata.metadata=minimal"
          + (isIEEE754Compatible ? ";IEEE754Compatible=true" : ""))
    case (.json, .v3): add("Content-Type", "application/json;odata=verbose")
    case (.json, _): add("Content-Type", "application/json")
    }
    if version >= .v4 {
      add("OData-Version", "4.0")
    } else {
      add("DataServiceVersion", "\(version.rawValue).0")
    }
    if let etag = entry?.etag { add("If-Match", etag) }
    return ODataRequestBody(method: method, body: body, headers: headers)
  }
}

/// What a device wants to be notified of.
public struct ODataSubscription: Sendable, Hashable {
  /// The name of the collection, without a namespace.
  public var collection: String
  /// Where notifications are sent.
  public var deliveryAddress: String
  /// A name for the subscription; empty by default.
  public var title: String
  /// A condition as in `$filter`; empty for all entries.
  public var filter: String
  /// Properties as in `$select`; `*`, the default, for all.
  public var select: String
  /// `created`, `updated`, `deleted`, or several separated by commas.
  public var changeType: String
  /// `persistNotifications` of the subscription; false by default.
  public var persistsNotifications: Bool
  /// The qualified type of subscriptions, where the service wants it named.
  public var type: String?

  /// For every kind of change and all properties, unless set otherwise.
  public init(
    collection: String, deliveryAddress: String, title: String = "", filter: String = "",
    select: String = "*", changeType: String = "created,updated,deleted",
    persistsNotifications: Bool = false, type: String? = nil
  ) {
    self.collection = collection
    self.deliveryAddress = deliveryAddress
    self.title = title
    self.filter = filter
    self.select = select
    self.changeType = changeType
    self.persistsNotifications = persistsNotifications
    self.type = type
  }
}

extension ODataLink {
  /// A link that a new or changed entry shall have to an entity that is there already.
  public static func bind(_ navigation: String, to uri: String) -> ODataLink {
    var link = ODataLink.related(navigation, href: uri)
    link.attributes["bind"] = "true"
    return link
  }

  /// Whether the link is to be set by what is written.
  public var isBinding: Bool { attributes["bind"] == "true" }
}
