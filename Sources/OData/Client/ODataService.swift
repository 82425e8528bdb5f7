import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataAddress

/// A service whose document and metadata were read, ready for its entries.
///
/// A value that any task may use; its session is shared.
public struct ODataService: Sendable {
  /// Where the service begins; ends with a slash.
  public let root: String
  /// The service document, with its collections' schemas.
  public let document: ODataServiceDocument
  /// Read once, when the service is opened.
  public let metadata: EdmMetadata
  /// Shared by all copies of this value.
  public let session: ODataSession
  /// The form in which entries are asked for and sent: Atom for V1 to V3, JSON for V4.
  public var format: ODataFormat

  /// Reads the service document and the metadata, and checks that they belong together.
  ///
  /// `address` is that of the service document. Throws `call` for an address that is none,
  /// `transport`, `http`, `redirect`, and `document` where an answer is not what was asked for.
  public static func open(
    _ address: String, session: ODataSession = ODataSession()
  ) async throws(ODataClientError) -> ODataService {
    guard let origin = ODataURL.origin(address), !origin.hasSuffix("://"),
      origin.hasPrefix("http://") || origin.hasPrefix("https://"),
      !address.contains(where: { $0 == "?" || $0 == "#" || $0.isWhitespace })
    else {
      throw ODataClientError(
        call: "\"\(address)\" is not an address of a service", "open",
        hint: "give an address such as https://host/service/, without a query")
    }
    let root = address.hasSuffix("/") ? address : address + "/"
    let accept = "application/atomsvc+xml, application/json;q=0.9, application/xml;q=0.8"
    var document = try await read(root, accept, session) { bytes throws(ODataError) in
      try ODataServiceDocument.read(bytes)
    }
    let metadata = try await read(root + "$metadata", "application/xml", session) {
      bytes throws(ODataError) in try EdmMetadata.read(bytes)
    }
    let stranger = document.collections.first {
      $0.kind == .entitySet && metadata.entitySet($0.name) == nil
        && metadata.entitySet(ODataURL.decoded($0.href)) == nil
    }
    if let stranger {
      let problem =
        "the metadata has no entity set \(stranger.name), which the service document lists"
      throw ODataClientError(
        ODataError(
          .unexpectedDocument, problem,
          hint: "check that both documents come from the same service"),
        "GET \(root)$metadata", wasSent: true)
    }
    document.attach(metadata)
    return ODataService(
      root: root, document: document, metadata: metadata, session: session,
      format: metadata.version < .v4 ? .atom : .json)
  }

  private static func read<T>(
    _ address: String, _ accept: String, _ session: ODataSession,
    _ parse: ([UInt8]) throws(ODataError) -> T
  ) async throws(ODataClientError) -> T {
    let request = ODataRequest(address, headers: ["Accept": accept])
    let response = try await session.sendChecked(request)
    do throws(ODataError) {
      return try parse(response.body)
    } catch {
      throw ODataClientError(error, "GET \(address)", wasSent: true)
    }
  }

  /// The entries at an address, page after page; the next page is asked for when it is needed.
  ///
  /// `address` stands beside the root, percent-encoded: `Items?$filter=Rev%20gt%202`.
  /// An `ODataAddress` in its place is checked and knows the type of its entries.
  public func entries(_ address: String) -> ODataEntries { entries(from: start(address)) }

  func entries(from start: Result<ODataTarget, ODataClientError>) -> ODataEntries {
    ODataEntries(service: self, start: start) {
      reader throws(ODataError) in
      switch try reader.next() {
      case .entry(let entry): .element(entry)
      case nil: .nothing
      default: .other
      }
    }
  }

  /// What an app makes of each entry at an address, page after page: about three times as fast as
  /// `entries`, because nothing is made that is not asked for.
  ///
  ///     for try await price in service.rows("Items", { try $0.double("Price") ?? 0 }) { … }
  public func rows<Value: Sendable>(
    _ address: String, _ make: @escaping @Sendable (ODataRow) throws(ODataError) -> Value
  ) -> ODataPages<Value> { rows(from: start(address), make) }

  func rows<Value: Sendable>(
    from start: Result<ODataTarget, ODataClientError>,
    _ make: @escaping @Sendable (ODataRow) throws(ODataError) -> Value
  ) -> ODataPages<Value> {
    ODataPages(service: self, start: start) { reader throws(ODataError) in
      guard let row = try reader.nextRow() else { return .nothing }
      return .element(try make(row))
    }
  }

  /// All that the feed at an address holds, page after page, deleted entries and changed links
  /// among it: for the address of a `deltaLink`.
  public func items(_ address: String) -> ODataPages<ODataItem> { items(from: start(address)) }

  func items(from start: Result<ODataTarget, ODataClientError>) -> ODataPages<ODataItem> {
    ODataPages(service: self, start: start) { reader throws(ODataError) in
      try reader.next().map { .element($0) } ?? .nothing
    }
  }

  private func start(_ address: String) -> Result<ODataTarget, ODataClientError> {
    .success(ODataTarget(address: ODataURL.resolved(address, base: root), type: nil))
  }

  /// The entry at an address beside the root, with its ETag.
  ///
  /// Throws `http` with status 404 where there is none, and `document` where it is not one entry.
  public func entry(_ address: String) async throws(ODataClientError) -> ODataEntry {
    try await entry(at: ODataTarget(address: own(address, "GET"), type: nil))
  }

  func entry(at target: ODataTarget) async throws(ODataClientError) -> ODataEntry {
    let url = target.address
    let response = try await session.sendChecked(
      ODataRequest(url, headers: readHeaders()))
    return try entry(in: response, "GET \(url)", type: target.type)
  }

  /// The entry of a set with a key: one value, or all parts of the key by name.
  public func entry(
    in set: String, key: ODataKey
  ) async throws(ODataClientError) -> ODataEntry {
    try await entry(address(of: set, key: key))
  }

  /// The address of an object beside the root, such as `Items(3)` or `Parts(A='x',B=2)`.
  ///
  /// Throws `call` where the metadata has no such set, or its key has other parts, and `document`
  /// for a value that keys of the version cannot hold.
  public func address(of set: String, key: ODataKey) throws(ODataClientError) -> String {
    let found = try self.set(set)
    let names = metadata.structuredType(found.entityType).map(metadata.keys)?.map(\.name) ?? []
    let given = key.parts.map(\.name)
    let isSingle = key.parts.count == 1 && given[0].isEmpty
    guard isSingle ? names.count == 1 : Set(given) == Set(names) && given.count == names.count
    else {
      throw ODataClientError(
        call: "the key of \(set) is \(names.joined(separator: ", "))", "address of \(set)",
        hint: "give each part of the key once, by its name")
    }
    let predicate: ODataPredicate =
      key.parts.count == 1
      ? .value(.literal(key.parts[0].value))
      : .named(key.parts.map { ODataNamedValue($0.name, .literal($0.value)) })
    do throws(ODataError) {
      return PercentEncoding.encode(found.name) + (try predicate.declaredKey(metadata.version))
    } catch {
      throw ODataClientError(error, "address of \(set)", wasSent: false)
    }
  }

  func set(_ name: String) throws(ODataClientError) -> EdmEntitySet {
    guard let set = metadata.entitySet(name) else {
      let names = metadata.entitySets.map(\.name).prefix(20).joined(separator: ", ")
      throw ODataClientError(
        call: "the service has no set \(name)", "look-up of a set", hint: "it has: \(names)")
    }
    return set
  }

  /// The absolute form of an address, if it is one of the service's own origin.
  func own(_ address: String, _ method: String) throws(ODataClientError) -> String {
    let url = ODataURL.resolved(address, base: root)
    guard ODataURL.origin(url) == ODataURL.origin(root) else {
      throw ODataClientError(
        call: "\(url) is not an address of \(root)", "\(method) \(url)",
        hint: "open the service there, if you trust it")
    }
    return url
  }

  func readHeaders() -> HTTPHeaders {
    var headers: HTTPHeaders = [:]
    switch (format, metadata.version) {
    case (.atom, _): headers["Accept"] = "application/atom+xml, application/xml;q=0.9"
    case (.json, .v4): headers["Accept"] = "application/json;odata.metadata=minimal"
    case (.json, .v3): headers["Accept"] = "application/json;odata=verbose"
    case (.json, _): headers["Accept"] = "application/json"
    }
    let isNew = metadata.version >= .v4
    headers[isNew ? "OData-MaxVersion" : "MaxDataServiceVersion"] =
      isNew ? "4.0" : "\(metadata.version.rawValue).0"
    return headers
  }

  /// How an answer from an address is read. Where no type is given, a path of one step names the
  /// set and so the type.
  func options(_ address: String, type: String?) -> ODataReadOptions {
    let rest = address.hasPrefix(root) ? address.dropFirst(root.count) : ""
    let path = rest.prefix { $0 != "?" && $0 != "#" }
    let name = path.prefix { $0 != "(" }
    let named =
      path.contains("/") ? nil : metadata.entitySet(ODataURL.decoded(String(name)))?.entityType
    return ODataReadOptions(
      metadata: metadata, type: type ?? named, base: address, version: metadata.version)
  }

  func entry(
    in response: ODataResponse, _ name: String, type: String?
  ) throws(ODataClientError) -> ODataEntry {
    do throws(ODataError) {
      var entry = try ODataEntry.read(response.body, options(response.address, type: type))
      if entry.etag == nil { entry.etag = response.etag }
      return entry
    } catch {
      throw ODataClientError(error, name, wasSent: true)
    }
  }
}

/// An address in the form that is sent, and the type of the entries that it leads to.
struct ODataTarget: Sendable {
  let address: String
  /// Qualified; nil where the answer says it, or nobody does.
  let type: String?
}

/// The key of an object: one value, or named parts.
public struct ODataKey: Sendable, Hashable, ExpressibleByIntegerLiteral,
  ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral
{
  let parts: [Part]

  struct Part: Sendable, Hashable {
    let name: String
    let value: EdmValue
  }

  /// The only part of a key.
  public init(_ value: EdmValue) { parts = [Part(name: "", value: value)] }

  /// A number of a variable, as `Edm.Int32` where it fits and else as `Edm.Int64`.
  public init(_ number: Int) {
    self.init(Int32(exactly: number).map(EdmValue.int32) ?? .int64(Int64(number)))
  }

  /// A text of a variable, as `Edm.String`.
  public init(_ text: String) { self.init(.string(text)) }

  /// All parts of a key by name, as in `["Order": .int32(number), "Line": .int32(2)]`.
  public init(_ parts: [String: EdmValue]) {
    self.parts = parts.sorted { $0.key < $1.key }.map { Part(name: $0.key, value: $0.value) }
  }

  public init(integerLiteral value: Int32) { self.init(.int32(value)) }

  public init(stringLiteral value: String) { self.init(.string(value)) }

  /// All parts of a key, each with its name.
  public init(dictionaryLiteral elements: (String, EdmValue)...) {
    parts = elements.map { Part(name: $0.0, value: $0.1) }
  }
}
