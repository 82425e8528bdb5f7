import Synchronization

/// A value of the standard types, as the reference's stores take them.
public enum SettingValue: Sendable, Hashable {
  case bool(Bool)
  case int(Int)
  case double(Double)
  case text(String)
  case bytes([UInt8])
  case list([SettingValue])
  case dictionary([String: SettingValue])
}

/// Values of an app by key, in a store. Keep it small: each change stores all values.
///
/// May be used from any thread. If two processes change values at the same time, the later change
/// replaces the values of the earlier one.
public final class AppSettingsStore: Sendable {
  private let persistence: Persistence
  private let name: String
  private let writing = Mutex(())

  /// How deep lists and dictionaries may stand in each other.
  static let depthLimit = 32

  /// Settings with different names in the same persistence are separate.
  public init(_ persistence: Persistence, name: String = "app settings") {
    self.persistence = persistence
    self.name = name
  }

  /// The value of a key; nil when there is none. `.damaged` when the stored bytes are damaged or
  /// were changed.
  public func getProperty(_ key: String) throws(PersistenceError) -> SettingValue? {
    try load()[key]
  }

  /// Stores a value under a key; nil removes the key. The change is on the disk when the call
  /// returns. `.invalidArgument` for an empty key, or for lists nested more than 32 levels deep.
  public func setProperty(_ key: String, _ value: SettingValue?) throws(PersistenceError) {
    guard !key.isEmpty else {
      throw PersistenceError(.invalidArgument, "the key of a setting is empty")
    }
    guard (value?.depth ?? 0) <= AppSettingsStore.depthLimit else {
      throw PersistenceError(
        .invalidArgument, "the setting \(key) is more than \(AppSettingsStore.depthLimit) deep")
    }
    try writing.withLock { (_) throws(PersistenceError) in
      var values = try load()
      values[key] = value
      var bytes: [UInt8] = []
      SettingValue.dictionary(values).write(&bytes)
      try persistence.store(bytes, name, .settings)
    }
  }

  /// Removes all values.
  public func deleteStore() throws(PersistenceError) {
    try writing.withLock { (_) throws(PersistenceError) in
      _ = try persistence.removeData(name)
    }
  }

  private func load() throws(PersistenceError) -> [String: SettingValue] {
    guard let bytes = try persistence.stream(name, .settings)?.rest() else { return [:] }
    var rest = bytes[...]
    guard case .dictionary(let values)? = SettingValue(&rest, depth: 0), rest.isEmpty else {
      throw PersistenceError(.damaged, "the settings \(name) are damaged")
    }
    return values
  }
}

extension SettingValue {
  fileprivate var depth: Int {
    switch self {
    case .list(let values): 1 + (values.map(\.depth).max() ?? 0)
    case .dictionary(let values): 1 + (values.values.map(\.depth).max() ?? 0)
    default: 0
    }
  }

  fileprivate func write(_ bytes: inout [UInt8]) {
    func piece(_ kind: UInt8, _ content: [UInt8]) {
      bytes.append(kind)
      bytes.append(number: UInt64(content.count))
      bytes += content
    }
    switch self {
    case .bool(let value): bytes += [0, value ? 1 : 0]
    case .int(let value):
      bytes.append(1)
      bytes.append(number: Int64(value))
    case .double(let value):
      bytes.append(2)
      bytes.append(number: value.bitPattern)
    case .text(let text): piece(3, Array(text.utf8))
    case .bytes(let content): piece(4, content)
    case .list(let values):
      bytes.append(5)
      bytes.append(number: UInt64(values.count))
      for value in values { value.write(&bytes) }
    case .dictionary(let values):
      bytes.append(6)
      bytes.append(number: UInt64(values.count))
      for (key, value) in values {
        piece(3, Array(key.utf8))
        value.write(&bytes)
      }
    }
  }

  /// nil where the bytes are no value.
  fileprivate init?(_ bytes: inout ArraySlice<UInt8>, depth: Int) {
    func take(_ count: Int) -> ArraySlice<UInt8>? {
      guard bytes.count >= count else { return nil }
      defer { bytes = bytes.dropFirst(count) }
      return bytes.prefix(count)
    }
    func count() -> Int? { take(8).map { Int(clamping: $0.number(UInt64.self)) } }
    // The dictionary of all values is one level more.
    guard depth <= AppSettingsStore.depthLimit + 1, let kind = take(1)?.first else { return nil }
    switch kind {
    case 0:
      guard let value = take(1)?.first else { return nil }
      self = .bool(value == 1)
    case 1:
      guard let value = take(8) else { return nil }
      self = .int(Int(value.number(Int64.self)))
    case 2:
      guard let value = take(8) else { return nil }
      self = .double(Double(bitPattern: value.number(UInt64.self)))
    case 3, 4:
      guard let count = count(), let content = take(count) else { return nil }
      self = kind == 3 ? .text(String(decoding: content, as: UTF8.self)) : .bytes(Array(content))
    case 5:
      guard let count = count() else { return nil }
      var values: [SettingValue] = []
      for _ in 0..<count {
        guard let value = SettingValue(&bytes, depth: depth + 1) else { return nil }
        values.append(value)
      }
      self = .list(values)
    case 6:
      guard let count = count() else { return nil }
      var values: [String: SettingValue] = [:]
      for _ in 0..<count {
        guard
          case .text(let key)? = SettingValue(&bytes, depth: depth + 1),
          let value = SettingValue(&bytes, depth: depth + 1)
        else { return nil }
        values[key] = value
      }
      self = .dictionary(values)
    default: return nil
    }
  }
}
