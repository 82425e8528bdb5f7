/// The name of a preference, with its type, its default and the values that it allows.
///
/// A value; declare it as `static let` near the code that uses it. A name that suggests a secret is
/// refused where the key is used (`PreferencesError.Code.secret`).
public struct PreferenceKey<Value: PreferenceValue>: Sendable {
  public let name: String
  public let defaultValue: Value
  /// Other names under which older versions stored the value; they are read and never written.
  public let aliases: [String]
  /// The part that uses the key; nil for the app's own. Listeners are not called before the part
  /// has started.
  public let part: PreferencePart?
  let refusal: @Sendable (Value) -> String?

  /// `refusal` says why a value is not allowed; nil allows it. The default must be allowed.
  public init(
    _ name: String, default defaultValue: Value, aliases: [String] = [],
    part: PreferencePart? = nil, refusal: @escaping @Sendable (Value) -> String? = { _ in nil }
  ) {
    let problem = refusal(defaultValue)
    precondition(problem == nil, "the default of \(name) is not allowed: \(problem ?? "")")
    self.name = name
    self.defaultValue = defaultValue
    self.aliases = aliases
    self.part = part
    self.refusal = refusal
  }

  /// A key that allows the values of a range, bounds included.
  public init(
    _ name: String, default defaultValue: Value, in range: ClosedRange<Value>,
    aliases: [String] = [], part: PreferencePart? = nil
  ) where Value: Comparable {
    self.init(name, default: defaultValue, aliases: aliases, part: part) { value in
      range.contains(value)
        ? nil : "\(value) is not from \(range.lowerBound) to \(range.upperBound)"
    }
  }

  /// The key without its type, as `Preferences` keeps it.
  public var erased: AnyPreferenceKey { AnyPreferenceKey(self) }
}

/// A part of an app that has its own preferences and starts at its own time.
public struct PreferencePart: Sendable, Hashable {
  public let name: String

  public init(_ name: String) { self.name = name }

  /// Requests to services.
  public static let connectivity = PreferencePart("connectivity")
  /// The store of objects and raw data.
  public static let persistence = PreferencePart("persistence")
  /// The reader of payloads.
  public static let parser = PreferencePart("parser")
  /// The cache of entries.
  public static let cache = PreferencePart("cache")
  /// Passports and spans.
  public static let trace = PreferencePart("trace")
}

/// A key whose type is known only while the program runs.
public struct AnyPreferenceKey: Sendable {
  public let name: String
  public let aliases: [String]
  public let part: PreferencePart?
  public let typeName: String
  public let defaultValue: StoredPreference
  let refusal: @Sendable (StoredPreference) -> String?

  init<Value: PreferenceValue>(_ key: PreferenceKey<Value>) {
    name = key.name
    aliases = key.aliases
    part = key.part
    typeName = Value.typeName
    defaultValue = key.defaultValue.stored
    refusal = { stored in
      guard let value = Value(stored: stored) else {
        return "the value has the type \(stored.typeName), the key \(Value.typeName)"
      }
      if case .double(let number) = stored, !number.isFinite { return "the number is not finite" }
      if case .float(let number) = stored, !number.isFinite { return "the number is not finite" }
      return key.refusal(value)
    }
  }
}

/// Whether a name says that its value is a secret.
///
/// The name is cut into words at capitals, digits and signs, so that `PASSPORT` is not taken for a
/// password.
func namesSecret(_ name: String) -> Bool {
  let single: Set = [
    "password", "passwords", "passwd", "pwd", "passcode", "passphrase", "pin", "secret",
    "secrets", "token", "tokens", "credential", "credentials", "apikey", "privatekey",
    "accesstoken", "encryptionkey",
  ]
  let pairs: Set = ["private key", "api key", "encryption key", "access key", "secret key"]
  let words = nameWords(name)
  return words.contains { single.contains($0) }
    || zip(words, words.dropFirst()).contains { pairs.contains("\($0) \($1)") }
}

private func nameWords(_ name: String) -> [String] {
  var words: [String] = []
  var word = ""
  var lastWasLower = false
  for character in name {
    let cuts = !character.isLetter || (character.isUppercase && lastWasLower)
    if cuts, !word.isEmpty {
      words.append(word.lowercased())
      word = ""
    }
    if character.isLetter { word.append(character) }
    lastWasLower = character.isLowercase
  }
  if !word.isEmpty { words.append(word.lowercased()) }
  return words
}
