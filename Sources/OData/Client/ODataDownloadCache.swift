import FerryCrypto
import FerryHTTP
import FerryOData

/// How a GET uses the download cache.
public enum ODataCachePolicy: Sendable, Hashable, CaseIterable {
  /// Asks the service whether what is kept is still good (`If-None-Match`); the default.
  case askServerIfModified
  /// As `askServerIfModified`, but only once what is kept is no longer fresh.
  case askServerIfModifiedWhenStale
  /// Takes what is kept, however old, and asks the service only where nothing is.
  case onlyLoadIfNotCached
  /// Takes what is kept, and never asks: `notCached` where nothing is.
  case dontLoad
  /// Always loads, and keeps the answer.
  case doNotReadFromCache
  /// Asks as `askServerIfModified`, and keeps nothing new.
  case doNotWriteToCache
  /// Loads, and takes what is kept where no answer comes.
  case fallbackToCacheIfLoadFails
}

/// Where a download cache puts its entries: memory, or files of the device kit.
///
/// A store on disk seals what it writes, unless its user switched that off.
public protocol ODataDownloadStore: Sendable {
  /// The bytes under a name; nil if there are none, or none that can be read.
  func load(_ name: String) async -> [UInt8]?
  /// Puts bytes under a name in place of earlier ones. A failure keeps nothing under the name.
  func save(_ bytes: [UInt8], _ name: String) async
  /// Removes what is under a name.
  func remove(_ name: String) async
}

/// Keeps entries in memory, for as long as the cache lives.
public actor ODataMemoryStore: ODataDownloadStore {
  private var entries: [String: [UInt8]] = [:]

  /// Holds nothing yet; all is lost when the app ends.
  public init() {}

  /// The bytes under a name.
  public func load(_ name: String) -> [UInt8]? { entries[name] }

  /// Keeps the bytes.
  public func save(_ bytes: [UInt8], _ name: String) { entries[name] = bytes }

  /// Forgets the bytes.
  public func remove(_ name: String) { entries[name] = nil }
}

/// Keeps answers to GET: for the session in memory, or for good in a store of the device kit.
///
/// Any number of sessions may share it: entries are apart by user. It is bounded, and what was used
/// longest ago goes first. `no-store` and `Vary` are obeyed.
public actor ODataDownloadCache {
  /// One kept answer.
  struct Entry: Equatable {
    var name: String
    var status: Int
    var headers: HTTPHeaders
    /// The headers that `Vary` names, as this entry's request sent them.
    var variant: [HTTPHeaders.Field]
    var address: String
    var size: Int
    /// Seconds since 1970 until which it is fresh.
    var freshUntil: Int
  }

  /// Bytes of all entries together.
  public let limitBytes: Int
  private let store: any ODataDownloadStore
  /// By user and address; the last used last in `order`.
  private var entries: [String: [Entry]] = [:]
  private var order: [String] = []
  private var sizes: [String: Int] = [:]
  private var isLoaded = false

  private static let index = "index"

  /// `store` is in memory by default, so that nothing stays behind the cache.
  public init(
    store: any ODataDownloadStore = ODataMemoryStore(), limitBytes: Int = 20 * 1024 * 1024
  ) {
    self.store = store
    self.limitBytes = limitBytes
  }

  /// Bytes of all entries now.
  public var usedBytes: Int { sizes.values.reduce(0, +) }
  /// How many answers are kept.
  public var count: Int { order.count }

  /// Forgets everything, of all users.
  public func clear() async {
    await prepare()
    for name in order { await store.remove(name) }
    entries = [:]
    order = []
    sizes = [:]
    await writeIndex()
  }

  func find(_ key: String, _ sent: HTTPHeaders) async -> (entry: Entry, body: [UInt8])? {
    await prepare()
    let found = entries[key]?.last { entry in
      entry.variant.allSatisfy { (sent[$0.name] ?? "") == $0.value }
    }
    guard let found else { return nil }
    guard let body = await store.load(found.name) else {
      await remove(found.name, key)
      return nil
    }
    order.removeAll { $0 == found.name }
    order.append(found.name)
    return (found, body)
  }

  func keep(
    _ key: String, _ sent: HTTPHeaders, _ response: ODataResponse, now: Int
  ) async {
    await prepare()
    let control = CacheControl(response.headers)
    let vary = response.headers.values("Vary").joined(separator: ",").split(separator: ",").map {
      $0.filter { $0 != " " }
    }
    let variant = vary.map { HTTPHeaders.Field(name: $0, value: sent[$0] ?? "") }
    for old in entries[key] ?? [] where old.variant == variant { await remove(old.name, key) }
    guard response.status == 200, !control.isNoStore, !CacheControl(sent).isNoStore,
      !vary.contains("*"), response.body.count <= limitBytes / 2
    else { return await writeIndex() }
    let text = key + "\n" + variant.map { "\($0.name):\($0.value)" }.joined(separator: "\n")
    let name = hexadecimal(SHA256Digest.hash(Array(text.utf8)))
    let entry = Entry(
      name: name, status: response.status, headers: response.headers, variant: variant,
      address: response.address, size: response.body.count,
      freshUntil: control.freshUntil(now))
    await store.save(response.body, name)
    entries[key, default: []].append(entry)
    order.append(name)
    sizes[name] = entry.size
    while usedBytes > limitBytes, let oldest = order.first {
      let owner = entries.first { $0.value.contains { $0.name == oldest } }?.key
      await remove(oldest, owner ?? "")
    }
    await writeIndex()
  }

  /// A 304 says that an entry is good: its headers are made new.
  func refresh(_ key: String, _ entry: Entry, _ headers: HTTPHeaders, now: Int) async -> Entry {
    var fresh = entry
    for field in headers.fields where field.name.lowercased() != "content-length" {
      fresh.headers[field.name] = field.value
    }
    fresh.freshUntil = CacheControl(headers).freshUntil(now)
    if let place = entries[key]?.firstIndex(where: { $0.name == entry.name }) {
      entries[key]?[place] = fresh
      await writeIndex()
    }
    return fresh
  }

  /// After a change at an address what is kept of it is no longer good.
  func forget(_ key: String) async {
    await prepare()
    let names = (entries[key] ?? []).map(\.name)
    guard !names.isEmpty else { return }
    for name in names { await remove(name, key) }
    await writeIndex()
  }

  private func remove(_ name: String, _ key: String) async {
    entries[key]?.removeAll { $0.name == name }
    if entries[key]?.isEmpty == true { entries[key] = nil }
    order.removeAll { $0 == name }
    sizes[name] = nil
    await store.remove(name)
  }

  private func prepare() async {
    guard !isLoaded else { return }
    isLoaded = true
    guard let bytes = await store.load(Self.index) else { return }
    for (key, entry) in CacheIndex.read(bytes) where sizes[entry.name] == nil {
      entries[key, default: []].append(entry)
      order.append(entry.name)
      sizes[entry.name] = entry.size
    }
  }

  private func writeIndex() async {
    var byName: [String: (String, Entry)] = [:]
    for (key, list) in entries { for entry in list { byName[entry.name] = (key, entry) } }
    await store.save(CacheIndex.write(order.compactMap { byName[$0] }), Self.index)
  }
}
