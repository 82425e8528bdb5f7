import FerryCertificates
import FerryCrypto
import FerryLogger
import FerryOData
import FerryODataCache
import FerryPersistence
import FerryPreferences
import FerryTrace
import FerryVault
import FerryWorld

/// The files of the device kit, each as whoever has the device may have changed it. Where a check sum
/// lies over the whole file it is made right first, or nothing behind it would ever be read.
extension FuzzTarget {
  static let kit: [FuzzTarget] = [
    .vault, .store, .cache, .preferences, .log, .passport, .certificate, .seed,
  ]

  static let vault = FuzzTarget(
    "vault",
    afterHeader: { after("Ferry vault\0", $0, atLeast: 40) },
    run: { bytes in
      let storage = MemoryVault(bytes + SHA256Digest.hash(bytes))
      let vaults = DataVaults(storage: storage, world: quiet)
      do throws(DataVaultError) {
        let vault = try vaults.getVault("v")
        guard vault.isLocked else { return "a vault is open before its password" }
      } catch {
        guard error.reason == .damaged || error.reason == .foreign else { return "\(error)" }
      }
      guard (try? vaults.deleteVault("v")) != nil else { return "a damaged vault stays for ever" }
      return nil
    })

  /// The file that describes a store, and then a file of data in it.
  static let store = FuzzTarget(
    "store",
    afterHeader: { after("Ferry data\0\0", $0, atLeast: 64) },
    run: { bytes in
      let files = MemoryFiles()
      do throws(PersistenceError) {
        let made = try Persistence(folder: "s", isSecure: false, key: nil, files: files)
        try made.storeData([1, 2, 3], id: "n")
      } catch { return "a store cannot be made: \(error)" }
      let paths = files.paths
      for path in paths where path.hasSuffix(".data") { files.set(path, bytes) }
      if let broken = brokenStore(files) { return broken }
      for path in paths where path.hasSuffix("store.ferry") {
        files.set(path, bytes + SHA256Digest.hash(bytes))
      }
      return brokenStore(files)
    })

  private static func brokenStore(_ files: MemoryFiles) -> String? {
    do throws(PersistenceError) {
      let store = try Persistence(folder: "s", isSecure: false, key: nil, files: files)
      if let stream = try store.loadDataStream("n") {
        while try !stream.read(1_000).isEmpty {}
      }
    } catch {
      let known: [PersistenceError.Reason] = [
        .damaged, .foreign, .dataType, .otherMode, .wrongKey, .changedElsewhere,
      ]
      guard known.contains(error.reason) else { return "\(error)" }
    }
    return nil
  }

  /// The parts of a stored cache: the head where the first byte is even, a batch of entries else.
  static let cache = FuzzTarget(
    "cache",
    afterHeader: { bytes in
      bytes.count > 8 && bytes[0] % 2 == 1 && bytes[1] == 7 ? Array(bytes[9...]) : nil
    },
    run: { bytes in
      guard let first = bytes.first, let head = cacheHead else { return nil }
      let rest = Array(bytes.dropFirst())
      let parts: [CachePart] =
        first % 2 == 0 ? [.serviceDocument(rest)] : [.serviceDocument(head), .entries(rest)]
      do {
        let store = try Persistence(
          folder: "s", isSecure: false, key: nil, files: MemoryFiles())
        try store.storeCache(GivenParts(parts: parts))
        let cache = ODataCache()
        try cache.load(from: store)
        for collection in cache.workspaces.flatMap(\.collections) {
          let entries = cache.entries(collection: collection.name)
          for entry in entries where entry.id == nil { return "an entry without an id" }
          _ = try? cache.filterEntries(collection: collection.name, searchText: "a")
        }
        // What was loaded can be stored and loaded again.
        if first % 2 == 1 {
          try cache.store(in: store)
          let again = ODataCache()
          try again.load(from: store)
          if again.count(collection: "Flights") != cache.count(collection: "Flights") {
            return "stored it is loaded otherwise"
          }
        }
        return nil
      } catch is ODataCacheError {
        return nil
      } catch is ODataError {
        return nil
      } catch {
        return "\(error)"
      }
    })

  static let preferences = FuzzTarget(
    "preferences",
    afterHeader: { after("FerryPreferences 1\n", $0, atLeast: 19) },
    run: { bytes in
      do throws(PreferencesError) {
        let read = try Preferences(GivenPreferences(bytes), world: quiet)
        let snapshot = read.snapshot()
        let again = try Preferences(GivenPreferences(snapshot), world: quiet)
        return again.snapshot() == snapshot ? nil : "written it is read otherwise"
      } catch {
        return error.code == .damaged || error.code == .unknownVersion ? nil : "\(error)"
      }
    })

  /// A file of the log on the device, and an exported one.
  static let log = FuzzTarget(
    "log",
    afterHeader: { after("FerryLog 1\n", $0, atLeast: 11) },
    run: { bytes in
      let files = MemoryFiles()
      files.set("l/log.0", bytes)
      do throws(LogError) {
        let read = try LogFiles(folder: "l", files: files)
        let log = DeviceLog(world: quiet, handlers: [read])
        log.restore(read.earlier)
        let known = log.count
        log.error("more")
        if log.count != known + 1 && known < DeviceLog.countLimit { return "a record is lost" }
        if read.lostCount > 0 { return "a record was not written" }
      } catch {
        guard error.code == .unknownVersion || error.code == .store else { return "\(error)" }
      }
      do throws(LogError) { _ = try LogExport.text(of: bytes, limitBytes: 1 << 20) } catch {
        guard error.code == .damaged || error.code == .tooLarge else { return "\(error)" }
      }
      return nil
    })

  static let passport = FuzzTarget(
    "passport",
    afterHeader: { after("2A54482A0300E6", $0, atLeast: 14) },
    run: { bytes in
      guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
      do throws(TraceError) {
        let read = try Passport(header: text)
        return try Passport(header: read.header) == read ? nil : "written it is read otherwise"
      } catch {
        return error.code == .invalidPassport ? nil : "\(error)"
      }
    })

  /// A certificate, and the same bytes as a file of PKCS#12.
  static let certificate = FuzzTarget(
    "certificate",
    afterHeader: { bytes in
      bytes.count > 8 && bytes[0] == 0x30 && bytes[1] == 0x82 ? Array(bytes[4...]) : nil
    },
    run: { bytes in
      do throws(CertificateError) {
        let read = try X509Certificate(der: bytes)
        if read.der != bytes { return "it is not as it came" }
        _ = (read.subject, read.issuer, read.displayName, read.fingerprint)
      } catch {
        guard error.code == .damaged || error.code == .unsupported else { return "\(error)" }
      }
      do throws(CertificateError) {
        _ = try CertificateIdentity(pkcs12: bytes, password: "geheim")
      } catch {
        let known: [CertificateError.Code] = [.damaged, .unsupported, .password]
        guard known.contains(error.code) else { return "\(error)" }
      }
      return nil
    })

  static let seed = FuzzTarget(
    "seed",
    afterHeader: { after("Server: ", $0, atLeast: 8) },
    run: { bytes in
      guard let file = try? SeedFile(bytes) else { return "a small file is refused" }
      if file.values.contains(where: { $0.key.isEmpty || $0.key.contains(":") }) {
        return "a key that is none"
      }
      return file.connection.portNumber == 0 ? "port 0" : nil
    })

  private static let quiet = World(
    clock: SystemClock(), chance: SystemChance(), log: SilentLog())

  private static func after(
    _ header: String, _ bytes: [UInt8], atLeast count: Int
  ) -> [UInt8]? {
    guard bytes.count >= count, bytes.starts(with: header.utf8) else { return nil }
    return Array(bytes.dropFirst(header.utf8.count))
  }

  /// What a cache with one collection stores first.
  private static let cacheHead: [UInt8]? = {
    let service = """
      <service xmlns="http://www.w3.org/2007/app" xmlns:atom="http://www.w3.org/2005/Atom">\
      <workspace><atom:title>Data</atom:title><collection href="Flights">\
      <atom:title>Flights</atom:title></collection></workspace></service>
      """
    let cache = ODataCache()
    let kept = KeptParts()
    do {
      let store = try Persistence(folder: "s", isSecure: false, key: nil, files: MemoryFiles())
      try cache.setServiceDocument(Array(service.utf8))
      try cache.store(in: store)
      _ = try store.loadCache(cache.uniqueID, into: kept)
    } catch { return nil }
    guard case .serviceDocument(let bytes)? = kept.parts.first else { return nil }
    return bytes
  }()
}

/// Hands over given parts.
private struct GivenParts: StorableCache {
  let uniqueID = "odata cache"
  let parts: [CachePart]
  func storeParts(_ store: (CachePart) throws -> Void) throws {
    for part in parts { try store(part) }
  }
  func loadPart(_ part: CachePart) throws {}
}

/// Keeps the parts that it is given.
private final class KeptParts: StorableCache {
  let uniqueID = "odata cache"
  var parts: [CachePart] = []
  func storeParts(_ store: (CachePart) throws -> Void) throws {}
  func loadPart(_ part: CachePart) throws { parts.append(part) }
}
