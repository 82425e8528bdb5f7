public import FerryPreferences
public import Observation
import Synchronization

/// What a screen of preferences shows: a row for each key, by the part that uses it. The user sets a
/// value as text, or takes the default back. `PreferenceListView` is its view for SwiftUI.
///
/// A row shows a change by other code at once, whatever thread it comes from.
public final class PreferenceList: Observable, Sendable {
  /// One preference.
  public struct Row: Sendable, Identifiable, Equatable {
    public var id: String { name }
    public let name: String
    /// The value's type: `bool`, `int`, `long`, `float`, `double` or `text`.
    public let typeName: String
    public let text: String
    public let defaultText: String
    /// Whether another value than the default was stored, or the default itself.
    public let isSet: Bool
    /// Why the last text was refused; nil when it was stored.
    public let problem: String?
  }

  /// The preferences of one part of the app.
  public struct Section: Sendable, Identifiable, Equatable {
    public var id: String { name }
    /// The part's name; empty for the app's own preferences, which come first.
    public let name: String
    public let rows: [Row]
  }

  private let registrar = ObservationRegistrar()
  private let preferences: Preferences
  private let keys: [AnyPreferenceKey]
  private let problems = Mutex<[String: String]>([:])
  private let listening = Mutex<[PreferenceListening]>([])

  /// Shows these keys in this order; without `keys` those of the parts, `KnownPreferences.all`.
  ///
  /// Throws the errors of `Preferences.listen` for a key that cannot be used.
  public init(
    _ preferences: Preferences, keys: [AnyPreferenceKey] = KnownPreferences.all
  ) throws(PreferencesError) {
    self.preferences = preferences
    self.keys = keys
    for key in keys {
      let heard = try preferences.listen(to: key) { [weak self] _ in
        guard let self else { return }
        registrar.withMutation(of: self, keyPath: \.sections) {}
      }
      listening.withLock { $0.append(heard) }
    }
  }

  deinit { for heard in listening.withLock({ $0 }) { heard.cancel() } }

  /// The rows by part, in the order of the keys.
  public var sections: [Section] {
    registrar.access(self, keyPath: \.sections)
    let problems = problems.withLock { $0 }
    var names: [String] = []
    var rows: [String: [Row]] = [:]
    for key in keys {
      let name = key.part?.name ?? ""
      if rows[name] == nil { names.append(name) }
      rows[name, default: []].append(row(of: key, problems[key.name]))
    }
    let ordered = names.filter(\.isEmpty) + names.filter { !$0.isEmpty }
    return ordered.map { Section(name: $0, rows: rows[$0] ?? []) }
  }

  /// Stores a text as the value of a key. If the key does not allow it, the old value stays, and the
  /// row's `problem` has the reason.
  public func set(_ name: String, to text: String) {
    change(name) { preferences throws(PreferencesError) in
      try preferences.setText(name, to: text)
    }
  }

  /// Takes the default back.
  public func reset(_ name: String) {
    change(name) { preferences throws(PreferencesError) in
      if preferences.contains(name) { try preferences.remove(name) }
    }
  }

  /// Takes the defaults of all shown keys back.
  public func resetAll() { for key in keys { reset(key.name) } }

  private func row(of key: AnyPreferenceKey, _ problem: String?) -> Row {
    Row(
      name: key.name, typeName: key.typeName,
      text: preferences.text(of: key.name) ?? key.defaultValue.text,
      defaultText: key.defaultValue.text, isSet: preferences.contains(key.name),
      problem: problem)
  }

  private func change(
    _ name: String, _ body: (Preferences) throws(PreferencesError) -> Void
  ) {
    let problem: String?
    do throws(PreferencesError) {
      try body(preferences)
      problem = nil
    } catch {
      problem = error.message
    }
    registrar.withMutation(of: self, keyPath: \.sections) {
      problems.withLock { $0[name] = problem }
    }
  }
}
