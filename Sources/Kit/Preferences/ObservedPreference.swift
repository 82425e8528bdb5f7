import Observation
import Synchronization

/// A preference that a view shows and changes, in place of a preference screen.
///
/// A view that reads `value` is updated at each change, also at changes by other code. If the key
/// does not allow a value, the old one stays and `problem` has the reason.
public final class ObservedPreference<Value: PreferenceValue>: Observable, Sendable {
  private let preferences: Preferences
  private let key: PreferenceKey<Value>
  private let registrar = ObservationRegistrar()
  private let refused = Mutex<PreferencesError?>(nil)
  private let listening = Mutex<PreferenceListening?>(nil)

  /// Throws the errors of `Preferences.listen`.
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

  /// The current value. Setting it stores it.
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
