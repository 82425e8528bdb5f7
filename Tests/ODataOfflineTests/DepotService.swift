import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataAddress
import FerryODataService
import FerryWorld
import Synchronization

/// A service of V4 with items and shelves, in memory behind a line that a test can cut. Conditions and
/// keys are judged by Ferry's own service of OData.
final class DepotService: Transport, ODataSource {
  static let root = "https://depot.test/odata/"

  private struct State {
    var sets: [String: [Int64: ODataEntry]] = ["Items": [:], "Shelves": [:]]
    var version = 0
    var isDown = false
    /// Statuses that come in place of the next answers to reads of this set.
    var failing: (set: String, status: Int)?
    /// The sentence with which a change of an item is refused where it holds.
    var rule: (sentence: String, isBroken: @Sendable (ODataEntry) -> Bool)?
    var changes: [String] = []
    var reads: [String] = []
    /// Where requests wait.
    var gate: Gate?
  }

  private let state = Mutex(State())
  private let service: ODataService

  init(items: Int = 0) throws {
    let clock = SystemClock()
    service = try ODataService(DepotService.metadata, uptime: { clock.uptime })
    put(shelf: 1, "aisle 1")
    put(shelf: 2, "aisle 2")
    for number in 0..<items {
      put(item: Int64(number + 1), "item \(number + 1)", stock: Int32(number), shelf: 1)
    }
  }

  // MARK: What a test does to it

  func setDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }
  func fail(readsOf set: String, with status: Int?) {
    state.withLock { state in state.failing = status.map { (set, $0) } }
  }
  func refuse(_ sentence: String, where isBroken: @escaping @Sendable (ODataEntry) -> Bool) {
    state.withLock { $0.rule = (sentence, isBroken) }
  }

  /// Changes that were done, as `PATCH Items(1)`.
  var changes: [String] { state.withLock { $0.changes } }
  /// Addresses behind the root that were read since this was asked last.
  func takeReads() -> [String] {
    state.withLock { state in
      defer { state.reads = [] }
      return state.reads
    }
  }

  /// From now on requests wait until the gate is opened.
  func hold() -> Gate {
    let gate = Gate()
    state.withLock { $0.gate = gate }
    return gate
  }

  func put(item id: Int64, _ name: String, stock: Int32, shelf: Int64? = nil) {
    put(
      "Items", id,
      [
        "ID": .int64(id), "Name": .string(name), "Stock": .int32(stock),
        "ShelfID": shelf.map { .int64($0) } ?? .null,
      ])
  }

  func put(shelf id: Int64, _ place: String) {
    put("Shelves", id, ["ID": .int64(id), "Place": .string(place)])
  }

  private func put(_ set: String, _ id: Int64, _ properties: ODataProperties) {
    state.withLock { state in
      state.version += 1
      var entry = ODataEntry(type: set == "Items" ? "Depot.Item" : "Depot.Shelf", properties)
      entry.etag = "W/\"\(state.version)\""
      state.sets[set]?[id] = entry
    }
  }

  func remove(item id: Int64) { state.withLock { _ = $0.sets["Items"]?.removeValue(forKey: id) } }

  func value(_ name: String, of item: Int64) -> EdmValue? {
    state.withLock { $0.sets["Items"]?[item]?[name] }
  }

  // MARK: The line

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    if let gate = state.withLock({ $0.gate }) { await gate.pass() }
    let isDown = state.withLock { $0.isDown }
    guard !isDown, request.url.hasPrefix(DepotService.root) else {
      throw TransportError(
        code: .cannotConnect, message: "nobody answers at \(request.url)", hint: "Try again.",
        isTransient: true, requestWasSent: false)
    }
    let rest = String(request.url.dropFirst(DepotService.root.count))
    let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = String(parts[0])
    let failure: Int? = state.withLock { state in
      if request.method == .get { state.reads.append(rest) }
      guard let failing = state.failing, path == failing.set else { return nil }
      return failing.status
    }
    let response =
      if let failure { HTTPResponse(status: failure, headers: [:], body: .bytes([])) } else {
        await service.answer(
          HTTPRequest(
            method: request.method, path: "/odata/\(path)",
            query: parts.count > 1 ? String(parts[1]) : nil, headers: request.headers,
            body: request.body), rest: path, root: DepotService.root, source: self)
      }
    return TransportResponse(
      status: response.status, headers: response.headers,
      body: WholeBody(await DepotService.bytes(of: response.body)))
  }

  private static func bytes(of body: HTTPBody) async -> [UInt8] {
    switch body {
    case .bytes(let bytes): return bytes
    case .stream(let source):
      var all: [UInt8] = []
      while case .bytes(let bytes) = await source.next() { all += bytes }
      return all
    }
  }

  // MARK: The source

  /// Positions are in the order of the keys.
  func parts(of query: ODataSourceQuery) -> ODataQueryParts {
    query.orderBy == [ODataOrder(.path(ODataPath("ID")))] ? [.order] : []
  }

  func page(
    _ query: ODataSourceQuery, after position: String?, count: Int
  ) async throws(ODataRefusal) -> ODataSourcePage {
    state.withLock { state in
      let behind = (state.sets[query.set.name] ?? [:]).sorted { $0.key < $1.key }
        .map { ODataSourceRow($0.value, position: DepotService.position($0.key)) }
        .filter { $0.position > position ?? "" }
      return ODataSourcePage(Array(behind.prefix(count)), isLast: behind.count <= count)
    }
  }

  private static func position(_ number: Int64) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, 12 - text.count)) + text
  }

  private static func id(_ key: ODataProperties) -> Int64? {
    key["ID"]?.integer
  }

  func entry(
    _ set: EdmEntitySet, key: ODataProperties
  ) async throws(ODataRefusal) -> ODataEntry? {
    state.withLock { state in DepotService.id(key).flatMap { state.sets[set.name]?[$0] } }
  }

  func related(
    _ entries: [ODataEntry], of set: EdmEntitySet, by navigation: EdmNavigationProperty, limit: Int
  ) async throws(ODataRefusal) -> [[ODataEntry]] { entries.map { _ in [] } }

  func entries(
    _ set: EdmEntitySet, keys: [ODataProperties]
  ) async throws(ODataRefusal) -> [ODataEntry?] {
    var found: [ODataEntry?] = []
    for key in keys { found.append(try await entry(set, key: key)) }
    return found
  }

  /// It follows no changes: its readers ask for everything again.
  func mark(_ set: EdmEntitySet, query: String) async throws(ODataRefusal) -> String? { nil }

  func changes(
    _ set: EdmEntitySet, query: String, since mark: String, limit: Int
  ) async throws(ODataRefusal) -> ODataSourceChanges { .lost("The depot keeps no changes.") }

  func write(_ write: ODataWrite) async throws(ODataRefusal) -> ODataWriteResult {
    try state.withLock { state throws(ODataRefusal) in
      guard let id = DepotService.id(write.key.isEmpty ? write.properties : write.key) else {
        throw ODataRefusal(400, "noKey", "The object has no key.", target: "ID")
      }
      let before = state.sets[write.set.name]?[id]
      guard write.kind != .create || before == nil else {
        throw ODataRefusal(409, "exists", "There is an object with this key.", target: "ID")
      }
      if case .tags(let tags) = write.condition {
        guard let etag = before?.etag, tags.contains(etag) else {
          throw ODataRefusal(412, "changed", "Somebody else has changed it.")
        }
      }
      guard write.kind != .delete else {
        state.sets[write.set.name]?[id] = nil
        state.changes.append("DELETE \(write.set.name)(\(id))")
        return .done(nil, key: write.key)
      }
      var entry = before ?? ODataEntry(type: write.set.entityType, ["ID": .int64(id)])
      for property in write.properties { entry[property.name] = property.value }
      if let rule = state.rule, rule.isBroken(entry) {
        throw ODataRefusal(400, "rule", rule.sentence, target: "Stock")
      }
      state.version += 1
      entry.etag = "W/\"\(state.version)\""
      state.sets[write.set.name]?[id] = entry
      state.changes.append("\(write.kind == .create ? "POST" : "PATCH") \(write.set.name)(\(id))")
      return .done(entry, key: ["ID": .int64(id)])
    }
  }

  func write(_ writes: [ODataWrite]) async throws(ODataRefusal) -> [ODataWriteResult] {
    var results: [ODataWriteResult] = []
    for write in writes { results.append(try await self.write(write)) }
    return results
  }

  func repeated(_ write: ODataWrite) async throws(ODataRefusal) -> ODataRepetition? { nil }

  func result(of pending: String) async throws(ODataRefusal) -> ODataWriteResult {
    .pending(pending)
  }

  private static let metadata: EdmMetadata = {
    func property(_ name: String, _ type: String, isNullable: Bool = true) -> EdmProperty {
      var property = EdmProperty(name, EdmTypeReference(type))
      property.facets.isNullable = isNullable
      return property
    }
    func entity(_ name: String, _ properties: [EdmProperty]) -> EdmStructuredType {
      var entity = EdmStructuredType(.entity, namespace: "Depot", name: name)
      entity.keys = [EdmKeyReference(name: "ID")]
      entity.properties = [property("ID", "Edm.Int64", isNullable: false)] + properties
      return entity
    }
    var schema = EdmSchema(namespace: "Depot")
    schema.entityTypes = [
      entity(
        "Item",
        [
          property("Name", "Edm.String"), property("Stock", "Edm.Int32"),
          property("ShelfID", "Edm.Int64"),
        ]),
      entity("Shelf", [property("Place", "Edm.String", isNullable: false)]),
    ]
    schema.containers = [
      EdmContainer(
        namespace: "Depot", name: "Container",
        entitySets: [
          EdmEntitySet(name: "Items", entityType: "Depot.Item"),
          EdmEntitySet(name: "Shelves", entityType: "Depot.Shelf"),
        ])
    ]
    return EdmMetadata(version: .v4, schemas: [schema])
  }()
}

/// Holds whoever comes until it is opened.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var isReached = false
    var watchers: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func pass() async {
    let watchers = state.withLock { state in
      state.isReached = true
      defer { state.watchers = [] }
      return state.watchers
    }
    for watcher in watchers { watcher.resume() }
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Returns when somebody waits.
  func reached() async {
    await withCheckedContinuation { continuation in
      let isReached = state.withLock { state in
        if !state.isReached { state.watchers.append(continuation) }
        return state.isReached
      }
      if isReached { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.resume() }
  }
}

/// A body that is there at once.
private final class WholeBody: TransportBody {
  private let rest: Mutex<[UInt8]?>

  init(_ bytes: [UInt8]) { rest = Mutex(bytes.isEmpty ? nil : bytes) }

  func next() async throws(TransportError) -> [UInt8]? {
    rest.withLock { rest in
      defer { rest = nil }
      return rest
    }
  }

  func cancel() { rest.withLock { $0 = nil } }
}
