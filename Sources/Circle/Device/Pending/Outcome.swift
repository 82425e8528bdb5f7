import FerryModel

/// How the business system answered a submitted change.
public enum Outcome<Object: BusinessObject>: Sendable {
  /// With the object as the business system made it; nil after an accepted delete, and if the object
  /// is no longer among this user's data.
  case accepted(Object?)
  /// The change is kept. Save the object again to correct it, or cancel the change.
  case refused(Refusal)
  /// It is not known whether the change was performed; the server or an operator finds out.
  case unknown
  /// No answer has come in time. The change is kept and is sent as soon as possible.
  case stillWaiting
  /// The app cancelled the change, with the object as the business system has it.
  case cancelled(Object?)
}
