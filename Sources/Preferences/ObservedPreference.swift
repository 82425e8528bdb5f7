import Observation
import Synchronization

/// A preference that a view shows and changes, in place of a preference screen.
///
/// Reading `value` in a view lets the view follow it, also when somebody else sets it. A value that
/// the key refuses leaves the old one and stands in `problem`.
public final class ObservedPreference<Value: PreferenceValue>: Observable, Sendable {
  private let preferences: Preferences
  private let key: PreferenceKey<Value>
  private let registrar = ObservationRegistrar()
  private let refused = Mutex<PreferencesError?>(nil)
  private let listening = Mutex<PreferenceListening?>(nil)

  /// Throws as `Preferences.listen`.
  public init(
    _ preferences: Preferences, _ key: PreferenceKey<Value>
  ) throws(PreferencesError) {
    self.preferences = preferences
    self.key = key
    let heard = try preferences.listen(to: key) { [weak self] _ in
      guard let self else { return }
      registrar.withMutation(of: self, keyPath: \.value) {}
    }
    listening.withLock { $0 = heard }
  }

  deinit { listening.withLock { $0 }?.cancel() }

  /// What holds now. Setting it stores it.
  public var value: Value {
    get {
      registrar.access(self, keyPath: \.value)
      return preferences.value(of: key)
    }
    set {
      do throws(PreferencesError) {
        try preferences.set(key, to: newValue)
        show(nil)
      } catch {
        show(error)
      }
    }
  }

  /// Why the last value was refused; nil when it was stored.
  public var problem: PreferencesError? {
    registrar.access(self, keyPath: \.problem)
    return refused.withLock { $0 }
  }

  private func show(_ error: PreferencesError?) {
    registrar.withMutation(of: self, keyPath: \.problem) { refused.withLock { $0 = error } }
  }
}
