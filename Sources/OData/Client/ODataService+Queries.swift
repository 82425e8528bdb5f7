import FerryHTTP
import FerryOData
import FerryODataAddress

/// Requests by an address that is built, with the version and the types of the metadata.
///
/// Each call writes the address for the service's version. Names, keys and types that the metadata
/// contradicts are refused before anything is sent. An address as text is sent unchecked.
extension ODataService {
  /// The entries that an address leads to, page after page; the next page is asked for when it is
  /// needed.
  ///
  ///     let items = ODataAddress().entitySet("Items").filter(Property("Rev") > 2)
  ///     for try await item in service.entries(items) { … }
  ///
  /// The first `next` throws `document` for an address that the version cannot write or that the
  /// metadata contradicts, and nothing is sent.
  public func entries(_ query: ODataAddress) -> ODataEntries { entries(from: start(query)) }

  /// What an app makes of each entry that an address leads to, page after page.
  ///
  /// It is about three times as fast as `entries`, and throws as `entries` does.
  public func rows<Value: Sendable>(
    _ query: ODataAddress,
    _ make: @escaping @Sendable (ODataRow) throws(ODataError) -> Value
  ) -> ODataPages<Value> { rows(from: start(query), make) }

  /// All that a feed holds, page after page, deleted entries and changed links among it.
  ///
  /// Throws as `entries` does.
  public func items(_ query: ODataAddress) -> ODataPages<ODataItem> { items(from: start(query)) }

  /// The one entry that an address leads to, with its ETag.
  ///
  /// Throws `document` before anything is sent as `entries` does, `http` with status 404 where
  /// there is none, and `document` where the answer is not one entry.
  public func entry(_ query: ODataAddress) async throws(ODataClientError) -> ODataEntry {
    try await entry(at: target(query, "GET"))
  }

  /// How many entries an address leads to, by its conditions; adds `$count` where the path does
  /// not end with it.
  ///
  /// Throws as `entry(_:)`, and `document` where the answer is no number.
  public func count(_ query: ODataAddress) async throws(ODataClientError) -> Int {
    var request = try request(query.path.last == .count ? query : query.count)
    request.headers["Accept"] = "text/plain, */*;q=0.1"
    let response = try await session.sendChecked(request)
    // Some services begin even a number with a byte order mark.
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let body = response.body.dropFirst(response.body.starts(with: mark) ? mark.count : 0)
    let text = String(decoding: body, as: UTF8.self)
    guard let count = Int(text.filter { !$0.isWhitespace }), count >= 0 else {
      throw ODataClientError(
        ODataError(
          .unexpectedDocument, "the count is \"\(text.prefix(40))\", which is no number",
          hint: "check that the service counts what the address leads to"),
        ODataSession.name(request), wasSent: true)
    }
    return count
  }

  /// The value of a property, or what a function gives; null where there is none.
  ///
  /// For the bytes of a media resource, or of `$value`, send or download `request(_:method:)`.
  /// Throws as `entry(_:)`.
  public func value(_ query: ODataAddress) async throws(ODataClientError) -> EdmValue {
    guard query.path.last != .value else {
      throw ODataClientError(
        call: "the answer to $value is bytes, not a value of a type", "GET $value",
        hint: "leave $value out, or send the request of the address")
    }
    let (address, found) = try resolved(query, "GET")
    // Verbose JSON has the value as a member of what it belongs to; all other forms have it alone.
    let isMember = format == .json && metadata.version < .v4
    let step = isMember ? found.steps.dropLast().last : found.steps.last
    let request = ODataRequest(address, headers: readHeaders())
    let response = try await session.sendChecked(request)
    if response.body.isEmpty { return .null }
    do throws(ODataError) {
      let options = options(response.address, type: step?.type?.name)
      let items = try ODataFeed.read(response.body, options).items
      return try Self.value(of: items, isCollection: found.type?.isCollection == true)
    } catch {
      throw ODataClientError(error, ODataSession.name(request), wasSent: true)
    }
  }

  private static func value(
    of items: [ODataItem], isCollection: Bool
  ) throws(ODataError) -> EdmValue {
    let values: [EdmValue] = items.compactMap { item in
      switch item {
      case .value(let value): value
      case .entry(let entry) where entry.properties.count == 1: entry.properties.first?.value
      default: nil
      }
    }
    if values.count == items.count {
      if values.count == 1, !isCollection || values[0].isCollection { return values[0] }
      if isCollection { return .collection(values) }
    }
    throw ODataError(
      .unexpectedDocument, "the answer holds \(items.count) things, not one value",
      hint: "check that the address leads to a property or a function")
  }

  /// Creates an object in the collection that an address leads to, such as the lines of an order.
  ///
  /// Returns and throws as `create(_:in:)`.
  public func create(
    _ entry: ODataEntry, at query: ODataAddress
  ) async throws(ODataClientError) -> ODataEntry {
    try await create(entry, at: target(query, "POST"))
  }

  /// Changes the object that an address leads to, in place of the entry's own address.
  ///
  /// Returns and throws as `update(_:method:)`.
  public func update(
    _ entry: ODataEntry, at query: ODataAddress, method: ODataUpdateMethod = .automatic
  ) async throws(ODataClientError) -> ODataEntry {
    try await update(entry, at: target(query, "\(verb(method))"), method)
  }

  /// Deletes the object that an address leads to, if its ETag is still this one; without an ETag,
  /// whatever its state.
  ///
  /// Throws as `delete(_:)`.
  public func delete(
    at query: ODataAddress, etag: String? = nil
  ) async throws(ODataClientError) {
    try await delete(at: target(query, "DELETE").address, etag: etag)
  }

  /// A request for an address, with the headers that ask for the service's version and form: for
  /// `session`, queues and downloads.
  ///
  /// Throws `document` for an address that the version cannot write or that the metadata
  /// contradicts, and `call` for one of another origin.
  public func request(
    _ query: ODataAddress, method: HTTPMethod = .get
  ) throws(ODataClientError) -> ODataRequest {
    let address = try resolved(query, "\(method)").address
    return ODataRequest(address, method: method, headers: readHeaders())
  }

  private func start(_ query: ODataAddress) -> Result<ODataTarget, ODataClientError> {
    do throws(ODataClientError) { return .success(try target(query, "GET")) } catch {
      return .failure(error)
    }
  }

  private func target(
    _ query: ODataAddress, _ method: String
  ) throws(ODataClientError) -> ODataTarget {
    let (address, found) = try resolved(query, method)
    let type = found.type.flatMap { metadata.structuredType($0.name) == nil ? nil : $0.name }
    return ODataTarget(address: address, type: type)
  }

  /// The address as it is sent, and what it means by the metadata.
  private func resolved(
    _ query: ODataAddress, _ method: String
  ) throws(ODataClientError) -> (address: String, found: ODataResolvedAddress) {
    var name = "\(method) \(root)"
    let text: String
    let found: ODataResolvedAddress
    do throws(ODataError) {
      text = try query.uri(metadata.version)
      name = "\(method) \(ODataURL.resolved(text, base: root))"
      found = try ODataResolvedAddress(query, in: metadata)
    } catch {
      throw ODataClientError(error, name, wasSent: false)
    }
    return (try own(text, method), found)
  }
}

extension EdmValue {
  fileprivate var isCollection: Bool { if case .collection = self { true } else { false } }
}
