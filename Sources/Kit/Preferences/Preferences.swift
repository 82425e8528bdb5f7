import FerryWorld
import Synchronization

/// Typed settings of an app and of its parts, which survive a restart.
///
/// A value is validated whenever it is set, also before its part has started. What is set is on the
/// disk when `set` returns; when it throws, nothing has changed. All calls may come from any thread
/// and block it until the store has answered.
///
/// ```swift
/// let preferences = try Preferences(PreferenceFile(path: path), world: .system())
/// try preferences.set(KnownPreferences.httpsPort, to: 8443)
/// let port = preferences.value(of: KnownPreferences.httpsPort)
/// ```
public final class Preferences: Sendable {
  /// The longest text in bytes of UTF-8.
  public static let textLimitBytes = 65_536
  /// The most preferences of one store.
  public static let countLimit = 10_000

  private struct State {
    var values: [String: StoredPreference]
    var keys: [String: AnyPreferenceKey] = [:]
    var aliases: [String: String] = [:]
    var started: Set<PreferencePart> = []
    var listeners: [(id: UInt64, name: String, call: @Sendable (StoredPreference) -> Void)] = []
    var nextListener: UInt64 = 0
    var waiting: [(name: String, value: StoredPreference)] = []
    var isTelling = false
  }

  private let store: any PreferenceStore
  private let log: any Log
  private let state: Mutex<State>

  /// Reads the store. Values that their key does not allow are dropped, with a log record.
  ///
  /// `keys` are the app's own; those of `KnownPreferences` are always known. Throws `.damaged`,
  /// `.unknownVersion`, `.store`; `.secret`, `.invalidName` and `.wrongType` for keys.
  public init(
    _ store: any PreferenceStore, keys: [AnyPreferenceKey] = [], world: World
  ) throws(PreferencesError) {
    self.store = store
    log = world.log
    let read = try Preferences.read(store)
    var state = State(values: read.values)
    for key in KnownPreferences.all + keys { try Preferences.add(key, to: &state) }
    let bad = Preferences.dropInvalid(&state)
    self.state = Mutex(state)
    tellDropped(bad, damagedLines: read.dropped)
  }

  /// The value that was set last; the default if none was set.
  public func value<Value>(of key: PreferenceKey<Value>) -> Value {
    let result = state.withLock { state -> (value: Value, bad: Bool) in
      guard let stored = Preferences.stored(key.erased, state) else {
        return (key.defaultValue, false)
      }
      guard let value = Value(stored: stored), key.refusal(value) == nil else {
        return (key.defaultValue, true)
      }
      return (value, false)
    }
    if result.bad { tellDropped([key.name], damagedLines: 0) }
    return result.value
  }

  /// Stores a value and calls the listeners, in the order in which they were added, before it
  /// returns.
  ///
  /// A value that equals the current one is stored without calling listeners. Throws
  /// `.invalidValue`, `.wrongType`, `.secret`, `.invalidName`, `.tooLarge`, `.store`.
  public func set<Value>(_ key: PreferenceKey<Value>, to value: Value) throws(PreferencesError) {
    try change { state throws(PreferencesError) in
      try Preferences.add(key.erased, to: &state)
      try Preferences.put(value.stored, under: key.erased, in: &state)
    }
  }

  /// Removes the stored value, so that the default applies; the key may be set again.
  public func reset<Value>(_ key: PreferenceKey<Value>) throws(PreferencesError) {
    try change { state throws(PreferencesError) in
      try Preferences.add(key.erased, to: &state)
      for name in [key.name] + key.aliases { state.values[name] = nil }
    }
  }

  /// Removes all stored values, so that all defaults apply; also values without a known key.
  public func resetAll() throws(PreferencesError) {
    try change { state throws(PreferencesError) in state.values = [:] }
  }

  /// Whether a value is stored under this name, or under one of the key's older names.
  public func contains(_ name: String) -> Bool {
    state.withLock { state in
      if let key = Preferences.key(name, state) { return Preferences.stored(key, state) != nil }
      return state.values[name] != nil
    }
  }

  /// Removes a value. Throws `.unknownKey` when none is stored.
  public func remove(_ name: String) throws(PreferencesError) {
    try change { state throws(PreferencesError) in
      let key = Preferences.key(name, state)
      let names = key.map { [$0.name] + $0.aliases } ?? [name]
      guard names.contains(where: { state.values[$0] != nil }) else {
        throw PreferencesError(.unknownKey, "\(name) has no value")
      }
      for name in names { state.values[name] = nil }
    }
  }

  /// The names of all stored values, sorted.
  public var names: [String] { state.withLock { $0.values.keys.sorted() } }

  /// A value as text; a known key's default when none is stored, else nil.
  public func text(of name: String) -> String? {
    state.withLock { state in
      guard let key = Preferences.key(name, state) else { return state.values[name]?.text }
      return (Preferences.stored(key, state) ?? key.defaultValue).text
    }
  }

  /// Stores a text, converted to the type of the key with this name, or as a text if no key has
  /// this name.
  ///
  /// Throws as `set`, and `.wrongType` when the text is not a value of the key's type.
  public func setText(_ name: String, to text: String) throws(PreferencesError) {
    try change { state throws(PreferencesError) in
      let key = Preferences.key(name, state) ?? PreferenceKey<String>(name, default: "").erased
      guard let value = StoredPreference(typeName: key.typeName, text: text) else {
        throw PreferencesError(
          .wrongType, "the text for \(name) is not of the type \(key.typeName)")
      }
      try Preferences.add(key, to: &state)
      try Preferences.put(value, under: key, in: &state)
    }
  }

  /// Starts a part. From now on listeners of its keys are called; earlier changes are not reported.
  public func start(_ part: PreferencePart) { _ = state.withLock { $0.started.insert(part) } }

  /// Stops a part: its listeners are not called until it starts again.
  public func stop(_ part: PreferencePart) { _ = state.withLock { $0.started.remove(part) } }

  /// Calls `listener` with the current value after each change of a key, until it is cancelled.
  ///
  /// It is called on a thread that made a change, one call at a time, in the order of the changes.
  /// The listener may itself call `set` and `listen`. Throws as `set` for a key that cannot be
  /// used.
  public func listen<Value>(
    to key: PreferenceKey<Value>, _ listener: @escaping @Sendable (Value) -> Void
  ) throws(PreferencesError) -> PreferenceListening {
    try listen(to: key.erased) { stored in
      if let value = Value(stored: stored) { listener(value) }
    }
  }

  /// The same for a key whose type is known only while the program runs.
  package func listen(
    to key: AnyPreferenceKey, _ listener: @escaping @Sendable (StoredPreference) -> Void
  ) throws(PreferencesError) -> PreferenceListening {
    let id = try locked { state throws(PreferencesError) -> UInt64 in
      try Preferences.add(key, to: &state)
      let id = state.nextListener
      state.nextListener += 1
      state.listeners.append((id, key.name, listener))
      return id
    }
    return PreferenceListening { [weak self] in
      self?.state.withLock { $0.listeners.removeAll { $0.id == id } }
    }
  }

  /// All stored values as bytes, for a sealed store. They have no secrets, but they are the user's
  /// data.
  public func snapshot() -> [UInt8] { state.withLock { PreferencesFormat.bytes($0.values) } }

  /// Replaces all values by those of a snapshot. Throws `.damaged`, `.unknownVersion`, `.store`.
  public func restore(_ snapshot: [UInt8]) throws(PreferencesError) {
    let read = try PreferencesFormat.values(snapshot)
    try take(read)
  }

  /// Reads the store again, after another program has changed it; listeners of changed values are
  /// called.
  ///
  /// Values that their key does not allow are removed, with a log record.
  public func reload() throws(PreferencesError) { try take(Preferences.read(store)) }

  private func take(
    _ read: (values: [String: StoredPreference], dropped: Int)
  ) throws(PreferencesError) {
    var bad: [String] = []
    try change { state throws(PreferencesError) in
      state.values = read.values
      bad = Preferences.dropInvalid(&state)
    }
    tellDropped(bad, damagedLines: read.dropped)
  }
}

/// A registered listener. It stays registered until `cancel`; dropping this value does not cancel
/// it.
public struct PreferenceListening: Sendable {
  let end: @Sendable () -> Void

  /// Ends the calls; a call that is running is finished. A second `cancel` does nothing.
  public func cancel() { end() }
}

extension Preferences {
  private func locked<Result: Sendable>(
    _ body: (inout State) throws(PreferencesError) -> Result
  ) throws(PreferencesError) -> Result {
    try state.withLock { (state) throws(PreferencesError) in try body(&state) }
  }

  /// Changes a copy, writes it, and only then makes it visible.
  private func change(
    _ body: (inout State) throws(PreferencesError) -> Void
  ) throws(PreferencesError) {
    try state.withLock { (state) throws(PreferencesError) in
      var new = state
      try body(&new)
      guard new.values.count <= Self.countLimit else {
        throw PreferencesError(.tooLarge, "there are more than \(Self.countLimit) preferences")
      }
      if new.values != state.values { try store.replace(PreferencesFormat.bytes(new.values)) }
      for key in new.keys.values.sorted(by: { $0.name < $1.name }) {
        let old = Self.stored(key, state) ?? key.defaultValue
        let value = Self.stored(key, new) ?? key.defaultValue
        let runs = key.part.map { new.started.contains($0) } ?? true
        if old != value, runs { new.waiting.append((key.name, value)) }
      }
      state = new
    }
    tell()
  }

  /// Whoever finds changes to tell tells them all, one after the other; a second one leaves them.
  private func tell() {
    var mayTell = state.withLock { state in
      if state.isTelling { return false }
      state.isTelling = true
      return true
    }
    while mayTell {
      let calls = state.withLock { state -> [@Sendable () -> Void] in
        guard !state.waiting.isEmpty else {
          state.isTelling = false
          mayTell = false
          return []
        }
        let next = state.waiting.removeFirst()
        return state.listeners.filter { $0.name == next.name }.map { listener in
          { listener.call(next.value) }
        }
      }
      for call in calls { call() }
    }
  }

  private func tellDropped(_ names: [String], damagedLines: Int) {
    for name in names {
      log.warn("a preference had a value that is not allowed; its default holds", ("name", name))
    }
    if damagedLines > 0 {
      log.warn("lines of the preferences cannot be read", ("lines", String(damagedLines)))
    }
  }

  private static func read(
    _ store: any PreferenceStore
  ) throws(PreferencesError) -> (values: [String: StoredPreference], dropped: Int) {
    guard let bytes = try store.read() else { return ([:], 0) }
    return try PreferencesFormat.values(bytes)
  }

  private static func key(_ name: String, _ state: State) -> AnyPreferenceKey? {
    state.keys[name] ?? state.aliases[name].flatMap { state.keys[$0] }
  }

  private static func stored(_ key: AnyPreferenceKey, _ state: State) -> StoredPreference? {
    if let value = state.values[key.name] { return value }
    return key.aliases.lazy.compactMap { state.values[$0] }.first
  }

  private static func add(_ key: AnyPreferenceKey, to state: inout State) throws(PreferencesError) {
    if let known = Preferences.key(key.name, state) {
      guard known.typeName == key.typeName else {
        throw PreferencesError(
          .wrongType,
          "\(key.name) has the type \(known.typeName); this key has the type \(key.typeName)")
      }
      return
    }
    for name in [key.name] + key.aliases {
      let scalars = name.unicodeScalars
      guard !name.isEmpty, name.utf8.count <= 255,
        !scalars.contains(where: { $0.value < 32 || $0.value == 127 })
      else { throw PreferencesError(.invalidName, "\"\(name.prefix(40))\" cannot be a name") }
      guard !namesSecret(name) else {
        throw PreferencesError(.secret, "the name \(name) suggests a secret")
      }
    }
    state.keys[key.name] = key
    for alias in key.aliases { state.aliases[alias] = key.name }
  }

  private static func put(
    _ value: StoredPreference, under key: AnyPreferenceKey, in state: inout State
  ) throws(PreferencesError) {
    if case .text(let text) = value, text.utf8.count > textLimitBytes {
      throw PreferencesError(
        .tooLarge, "\(key.name) has \(text.utf8.count) bytes, the limit is \(textLimitBytes)")
    }
    if let problem = (Preferences.key(key.name, state) ?? key).refusal(value) {
      throw PreferencesError(.invalidValue, "\(key.name): \(problem)")
    }
    for alias in key.aliases { state.values[alias] = nil }
    state.values[key.name] = value
  }

  /// Removes what a known key refuses; answers the names.
  private static func dropInvalid(_ state: inout State) -> [String] {
    var dropped: [String] = []
    for (name, value) in state.values.sorted(by: { $0.key < $1.key }) {
      guard let key = Preferences.key(name, state), key.refusal(value) != nil else { continue }
      // The reference's samples store the switch of passports as a text.
      if case .text(let text) = value,
        let read = StoredPreference(typeName: key.typeName, text: text), key.refusal(read) == nil
      {
        state.values[name] = read
        continue
      }
      state.values[name] = nil
      dropped.append(name)
    }
    return dropped
  }
}
