/// A value as a store keeps it, with its type.
public enum StoredPreference: Sendable, Equatable {
  case bool(Bool)
  case int(Int32)
  case long(Int64)
  case float(Float)
  case double(Double)
  case text(String)

  /// The type's name in messages and in the file.
  public var typeName: String {
    switch self {
    case .bool: "bool"
    case .int: "int"
    case .long: "long"
    case .float: "float"
    case .double: "double"
    case .text: "text"
    }
  }

  /// The value as text; `Preferences.setText` reads it back to the same value.
  public var text: String {
    switch self {
    case .bool(let value): String(value)
    case .int(let value): String(value)
    case .long(let value): String(value)
    case .float(let value): String(value)
    case .double(let value): String(value)
    case .text(let value): value
    }
  }

  /// A value of the type that is named; nil when the text is none.
  init?(typeName: String, text: String) {
    switch typeName {
    case "bool":
      guard let value = Bool(text) else { return nil }
      self = .bool(value)
    case "int":
      guard let value = Int32(text) else { return nil }
      self = .int(value)
    case "long":
      guard let value = Int64(text) else { return nil }
      self = .long(value)
    case "float":
      guard let value = Float(text), value.isFinite else { return nil }
      self = .float(value)
    case "double":
      guard let value = Double(text), value.isFinite else { return nil }
      self = .double(value)
    case "text": self = .text(text)
    default: return nil
    }
  }
}

/// A type that preferences can hold: `Bool`, `Int32`, `Int64`, `Int`, `Float`, `Double`, `String`.
public protocol PreferenceValue: Sendable, Equatable {
  /// The type's name in messages and in the file.
  static var typeName: String { get }
  /// The value as the store keeps it.
  var stored: StoredPreference { get }
  /// nil when the store holds another type.
  init?(stored: StoredPreference)
}

extension Bool: PreferenceValue {
  public static var typeName: String { "bool" }
  public var stored: StoredPreference { .bool(self) }
  public init?(stored: StoredPreference) {
    guard case .bool(let value) = stored else { return nil }
    self = value
  }
}

extension Int32: PreferenceValue {
  public static var typeName: String { "int" }
  public var stored: StoredPreference { .int(self) }
  public init?(stored: StoredPreference) {
    guard case .int(let value) = stored else { return nil }
    self = value
  }
}

extension Int64: PreferenceValue {
  public static var typeName: String { "long" }
  public var stored: StoredPreference { .long(self) }
  public init?(stored: StoredPreference) {
    guard case .long(let value) = stored else { return nil }
    self = value
  }
}

extension Int: PreferenceValue {
  public static var typeName: String { "long" }
  public var stored: StoredPreference { .long(Int64(self)) }
  public init?(stored: StoredPreference) {
    guard case .long(let value) = stored, let own = Int(exactly: value) else { return nil }
    self = own
  }
}

extension Float: PreferenceValue {
  public static var typeName: String { "float" }
  public var stored: StoredPreference { .float(self) }
  public init?(stored: StoredPreference) {
    guard case .float(let value) = stored else { return nil }
    self = value
  }
}

extension Double: PreferenceValue {
  public static var typeName: String { "double" }
  public var stored: StoredPreference { .double(self) }
  public init?(stored: StoredPreference) {
    guard case .double(let value) = stored else { return nil }
    self = value
  }
}

extension String: PreferenceValue {
  public static var typeName: String { "text" }
  public var stored: StoredPreference { .text(self) }
  public init?(stored: StoredPreference) {
    guard case .text(let value) = stored else { return nil }
    self = value
  }
}
