/// Whether a change is sent when it is saved.
public enum Submitting: Sendable, Hashable {
  /// The change is sent as soon as there is a connection.
  case now
  /// The change stays on the device until the app submits it: a draft.
  case later
}
