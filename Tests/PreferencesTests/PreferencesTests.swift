import FerryPreferences
import FerryTestTraits
import FerryWorld
import Foundation
import Observation
import Synchronization
import Testing

final class MemoryStore: PreferenceStore {
  private struct State {
    var bytes: [UInt8]?
    var refuses = false
    var writes = 0
  }

  private let state: Mutex<State>

  init(_ text: String? = nil) { state = Mutex(State(bytes: text.map { Array($0.utf8) })) }

  var text: String? {
    get { state.withLock { $0.bytes.map { String(decoding: $0, as: UTF8.self) } } }
    set { state.withLock { $0.bytes = newValue.map { Array($0.utf8) } } }
  }
  var writes: Int { state.withLock { $0.writes } }

  func refuse() { state.withLock { $0.refuses = true } }

  func read() throws(PreferencesError) -> [UInt8]? { state.withLock { $0.bytes } }

  func replace(_ bytes: [UInt8]) throws(PreferencesError) {
    let refuses = state.withLock { $0.refuses }
    // The path of a folder that is not there, so that the real store makes the error.
    if refuses { try PreferenceFile(path: "/nowhere/at/all").replace(bytes) }
    state.withLock {
      $0.bytes = bytes
      $0.writes += 1
    }
  }
}

final class HeardLog: Log {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  func write(_ level: LogLevel, _ message: String, _ fields: [(String, String)]) {
    let text = fields.map { "\($0)=\($1)" }.joined(separator: " ")
    lines.withLock { $0.append("\(level.name) \(message) \(text)") }
  }
}

final class Heard<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])
  var all: [Value] { values.withLock { $0 } }
  func add(_ value: Value) { values.withLock { $0.append(value) } }
}

func open(
  _ store: MemoryStore = MemoryStore(), keys: [AnyPreferenceKey] = [], log: HeardLog = HeardLog()
) throws -> Preferences {
  try Preferences(
    store, keys: keys, world: World(clock: SystemClock(), chance: SystemChance(), log: log))
}

@Suite("Preferences")
struct PreferencesTests {
  let theme = PreferenceKey<String>("theme", default: "light")
  let size = PreferenceKey<Int>("size", default: 12, in: 6...72)

  @Test(
    "Every part's defaults are in one place, and hold until something is set",
    .reference("adr/PRF-1", "adr/PRF-13")
  )
  func defaults() throws {
    let preferences = try open()
    let table = KnownPreferences.all.map { "\($0.name) \($0.typeName) \($0.defaultValue.text)" }
    #expect(
      table == [
        "SDM_CONNECTIVITY_HTTPS_PORT int 443", "SDM_CONNECTIVITY_CONNTIMEOUT int 10000",
        "SDM_CONNECTIVITY_SCONNTIMEOUT int 60000", "FERRY_CONNECTIVITY_LANGUAGE text ",
        "SDM_CONNECTIVITY_HANDLER_CLASS_NAME text ",
        "SDM_PERSISTENCE_SECUREMODE bool true", "PERSISTENCE_DEFAULTFOLDER_PATH_STRING text ",
        "PERSISTENCE_ACCESS_CONTROL_SIGNER_ID text ", "PARSER_DEFAULTFOLDER_PATH text ",
        "SDM_CACHE_CAPACITY int 0", "SAPPASSPORT_ENABLED bool false",
        "SAP_APPLICATIONID_HEADER_VALUE text ",
      ])
    #expect(preferences.value(of: KnownPreferences.httpsPort) == 443)
    #expect(preferences.value(of: KnownPreferences.isPersistenceSecure))
    #expect(!preferences.value(of: KnownPreferences.isPassportEnabled))
    #expect(preferences.names.isEmpty)
  }

  @Test("Each type comes back as it was set, at its limits too", .reference("adr/PRF-2"))
  func types() throws {
    let store = MemoryStore()
    let preferences = try open(store)
    func trip<Value: PreferenceValue>(_ values: [Value], default first: Value) throws {
      let key = PreferenceKey<Value>("of \(Value.self)", default: first)
      for value in values {
        try preferences.set(key, to: value)
        #expect(preferences.value(of: key) == value)
        #expect(try open(store).value(of: key) == value)
      }
    }
    try trip([true, false], default: false)
    try trip([Int32.min, 0, .max], default: 0)
    try trip([Int64.min, 0, .max], default: 0)
    try trip([Int.min, 7, .max], default: 0)
    try trip([Float.leastNonzeroMagnitude, -0.1, .greatestFiniteMagnitude], default: 0)
    try trip([Double.leastNonzeroMagnitude, 0.1, -.greatestFiniteMagnitude], default: 0)
    try trip(["", "a\tb\\n\nc\r\n\u{301}", "日本語", "\u{0}"], default: "x")
    let number = PreferenceKey<Double>("number", default: 1)
    let error = #expect(throws: PreferencesError.self) {
      try preferences.set(number, to: .infinity)
    }
    #expect(error?.code == .invalidValue)
  }

  @Test("Both spellings of the secure mode are one preference", .reference("adr/C-16"))
  func twoSpellings() throws {
    let key = KnownPreferences.isPersistenceSecure
    for (set, read) in [
      ("PERSISTENCE_SECUREMODE_BOOLEAN", "SDM_PERSISTENCE_SECUREMODE"),
      ("SDM_PERSISTENCE_SECUREMODE", "PERSISTENCE_SECUREMODE_BOOLEAN"),
    ] {
      let preferences = try open()
      #expect(preferences.value(of: key) && preferences.text(of: set) == "true")
      try preferences.setText(set, to: "false")
      #expect(!preferences.value(of: key) && preferences.text(of: read) == "false")
      #expect(preferences.names.count == 1)
    }
  }

  @Test("Texts are read as the type of the key: the string-only store", .reference("adr/PRF-3"))
  func texts() throws {
    let preferences = try open()
    try preferences.setText("SAPPASSPORT_ENABLED", to: "true")
    #expect(preferences.value(of: KnownPreferences.isPassportEnabled))
    try preferences.setText("CONNECTION_TIMEOUT_MS", to: "3500")
    #expect(preferences.value(of: KnownPreferences.connectTimeoutMilliseconds) == 3500)
    #expect(preferences.text(of: "SDM_CONNECTIVITY_CONNTIMEOUT") == "3500")
    #expect(preferences.text(of: "SDM_CONNECTIVITY_HTTPS_PORT") == "443")
    try preferences.setText("own", to: "any text")
    #expect(preferences.text(of: "own") == "any text" && preferences.text(of: "other") == nil)
    let error = #expect(throws: PreferencesError.self) {
      try preferences.setText("SDM_CONNECTIVITY_HTTPS_PORT", to: "https")
    }
    #expect(error?.code == .wrongType)
    #expect(preferences.value(of: KnownPreferences.httpsPort) == 443)
  }

  @Test(
    "Reset brings one default or all back; remove of what is not there is an error",
    .reference("adr/PRF-4"))
  func reset() throws {
    let preferences = try open()
    try preferences.set(theme, to: "dark")
    try preferences.set(size, to: 20)
    #expect(preferences.contains("theme") && preferences.contains("size"))
    try preferences.reset(theme)
    #expect(preferences.value(of: theme) == "light" && !preferences.contains("theme"))
    try preferences.remove("size")
    #expect(preferences.value(of: size) == 12)
    let error = #expect(throws: PreferencesError.self) { try preferences.remove("size") }
    #expect(error?.code == .unknownKey && error?.description.contains("size") == true)
    try preferences.set(theme, to: "dark")
    try preferences.set(KnownPreferences.httpsPort, to: 8443)
    try preferences.resetAll()
    #expect(preferences.names.isEmpty && preferences.value(of: theme) == "light")
    #expect(preferences.value(of: KnownPreferences.httpsPort) == 443)
  }

  @Test(
    "An app's own keys are kept like those of the parts, and survive a restart",
    .reference("adr/PRF-5", "adr/PRF-9"))
  func restart() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = PreferenceFile(path: folder.appendingPathComponent("preferences").path)
    let world = World.system()
    let first = try Preferences(file, world: world)
    try first.set(theme, to: "dark")
    try first.set(KnownPreferences.cacheCapacity, to: 50)
    let second = try Preferences(file, world: world)
    #expect(second.value(of: theme) == "dark")
    #expect(second.value(of: KnownPreferences.cacheCapacity) == 50)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["preferences"])
  }

  @Test(
    "A listener hears each change of its key alone, once, in order, until cancelled",
    .reference("adr/PRF-6"))
  func listeners() throws {
    let preferences = try open()
    let heard = Heard<String>()
    let listening = try preferences.listen(to: theme) { heard.add("first \($0)") }
    _ = try preferences.listen(to: theme) { heard.add("second \($0)") }
    try preferences.set(theme, to: "dark")
    try preferences.set(theme, to: "dark")
    try preferences.set(size, to: 20)
    try preferences.reset(theme)
    #expect(heard.all == ["first dark", "second dark", "first light", "second light"])
    listening.cancel()
    listening.cancel()
    try preferences.set(theme, to: "blue")
    #expect(heard.all.suffix(1) == ["second blue"] && heard.all.count == 5)
  }

  @Test("A listener that sets is heard after the change that it heard")
  func reentrance() throws {
    let preferences = try open()
    let (theme, size) = (theme, size)
    let heard = Heard<String>()
    _ = try preferences.listen(to: theme) {
      heard.add($0)
      if $0 == "dark" { try? preferences.set(theme, to: "black") }
    }
    _ = try preferences.listen(to: theme) { heard.add("second \($0)") }
    try preferences.set(theme, to: "dark")
    #expect(heard.all == ["dark", "second dark", "black", "second black"])
    // Threads that set at once: the last value heard is the one that holds.
    let sizes = Heard<Int>()
    _ = try preferences.listen(to: size) { sizes.add($0) }
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<8 { try? preferences.set(size, to: 6 + 8 * thread + number) }
    }
    #expect(sizes.all.count == 64 && Set(sizes.all).count == 64)
    #expect(sizes.all.last == preferences.value(of: size))
  }

  @Test(
    "A value outside the range is an error by name, and the old value stays",
    .reference("adr/PRF-7"))
  func validation() throws {
    let store = MemoryStore()
    let preferences = try open(store)
    let heard = Heard<Int>()
    _ = try preferences.listen(to: size) { heard.add($0) }
    for allowed in [6, 72] { try preferences.set(size, to: allowed) }
    for refused in [5, 73] {
      let error = #expect(throws: PreferencesError.self) { try preferences.set(size, to: refused) }
      #expect(error?.code == .invalidValue)
      #expect(error?.message == "size: \(refused) is not from 6 to 72")
    }
    #expect(preferences.value(of: size) == 72 && heard.all == [6, 72] && store.writes == 2)
  }

  @Test(
    "A wrong value in the store is dropped, its default holds, and a record says so",
    .reference("adr/PRF-7"))
  func wrongValues() throws {
    let log = HeardLog()
    let store = MemoryStore(
      "FerryPreferences 1\nSDM_CONNECTIVITY_HTTPS_PORT\tint\t70000\nSDM_CACHE_CAPACITY\ttext\tmany\n"
        + "SAPPASSPORT_ENABLED\ttext\ttrue\nsize\tlong\t99\nno line\n")
    let preferences = try open(store, keys: [size.erased], log: log)
    #expect(preferences.value(of: KnownPreferences.httpsPort) == 443)
    #expect(preferences.value(of: KnownPreferences.cacheCapacity) == 0)
    #expect(preferences.value(of: size) == 12)
    #expect(preferences.value(of: KnownPreferences.isPassportEnabled))
    #expect(preferences.names == ["SAPPASSPORT_ENABLED"])
    let refused = "warn a preference had a value that is not allowed; its default holds name="
    #expect(
      log.all == [
        refused + "SDM_CACHE_CAPACITY", refused + "SDM_CONNECTIVITY_HTTPS_PORT", refused + "size",
        "warn lines of the preferences cannot be read lines=1",
      ])
    #expect(!log.all.joined().contains("70000"))
    // Another program writes a wrong value while the app runs.
    try preferences.set(size, to: 20)
    store.text = store.text?.replacingOccurrences(of: "size\tlong\t20", with: "size\tlong\t1000")
    let heard = Heard<Int>()
    _ = try preferences.listen(to: size) { heard.add($0) }
    try preferences.reload()
    #expect(preferences.value(of: size) == 12 && heard.all == [12] && log.all.count == 5)
    #expect(store.text?.contains("1000") == false)
  }

  @Test(
    "Nothing is heard before the key's part runs; a value is validated before too",
    .reference("adr/PRF-8", "adr/PRF-11")
  )
  func parts() throws {
    let preferences = try open()
    let port = KnownPreferences.httpsPort
    let heard = Heard<Int32>()
    _ = try preferences.listen(to: port) { heard.add($0) }
    try preferences.set(port, to: 8443)
    let error = #expect(throws: PreferencesError.self) { try preferences.set(port, to: 0) }
    #expect(error?.code == .invalidValue && heard.all.isEmpty)
    preferences.start(.connectivity)
    #expect(heard.all.isEmpty && preferences.value(of: port) == 8443)
    try preferences.set(port, to: 9443)
    #expect(heard.all == [9443])
    preferences.stop(.connectivity)
    try preferences.set(port, to: 443)
    preferences.start(.persistence)
    #expect(heard.all == [9443])
  }

  @Test(
    "A key that names a secret is refused, a passport is none", .reference("adr/PRF-9"),
    arguments: [
      ("userPassword", true), ("API_KEY", true), ("accessToken", true), ("x.secret", true),
      ("PIN", true), ("DB-ENCRYPTION-KEY", true), ("SAPPASSPORT_ENABLED", false),
      ("spinner", false), ("keyboard", false), ("tokenizer", false),
    ])
  func secrets(name: String, isSecret: Bool) throws {
    let preferences = try open()
    let key = PreferenceKey<Bool>(name, default: false)
    if isSecret {
      let error = #expect(throws: PreferencesError.self) { try preferences.set(key, to: true) }
      #expect(error?.code == .secret && error?.description.contains("FerryVault") == true)
      #expect(throws: PreferencesError.self) { try preferences.setText(name, to: "x") }
      #expect(throws: PreferencesError.self) { _ = try open(keys: [key.erased]) }
    } else {
      try preferences.set(key, to: true)
      #expect(preferences.value(of: key))
    }
  }

  @Test(
    "A snapshot brings all values back elsewhere, and tells what differs", .reference("adr/PRF-10"))
  func snapshot() throws {
    let first = try open()
    try first.set(theme, to: "dark")
    try first.set(size, to: 20)
    let second = try open()
    let heard = Heard<Int>()
    _ = try second.listen(to: size) { heard.add($0) }
    try second.set(KnownPreferences.httpsPort, to: 8443)
    try second.restore(first.snapshot())
    #expect(second.value(of: theme) == "dark" && heard.all == [20])
    #expect(second.value(of: KnownPreferences.httpsPort) == 443)
    #expect(second.snapshot() == first.snapshot())
  }

  @Test(
    "A view reads and sets a preference, and sees why a value was refused", .reference("adr/PRF-12")
  )
  func observed() throws {
    let preferences = try open()
    let model = try ObservedPreference(preferences, size)
    let changes = Heard<String>()
    withObservationTracking {
      _ = model.value
    } onChange: {
      changes.add("value")
    }
    try preferences.set(size, to: 20)
    #expect(changes.all == ["value"] && model.value == 20 && model.problem == nil)
    model.value = 100
    #expect(model.value == 20 && model.problem?.code == .invalidValue)
    model.value = 30
    #expect(preferences.value(of: size) == 30 && model.problem == nil)
  }
}
