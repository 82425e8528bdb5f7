/// A value that the device or its user chooses and that decides which rows come: what partition
/// rules name as `parameter:…`.
public struct Parameter: Sendable, Hashable {
  /// An identifier.
  public let name: String
  public let type: AttributeType
  public let kind: ParameterKind
  /// What holds where nothing was chosen, canonical; null: no row comes by it then.
  public let defaultValue: AttributeValue
  /// The personalization key whose value a synchronization parameter has where a set does not name it;
  /// nil: none.
  public let from: String?

  public init(
    name: String, type: AttributeType, kind: ParameterKind = .synchronization,
    defaultValue: AttributeValue = .null, from: String? = nil
  ) {
    self.name = name
    self.type = type
    self.kind = kind
    self.defaultValue = defaultValue
    self.from = from
  }
}

/// Who keeps the value of a parameter (facts/1.6: synchronization parameters, and personalization
/// keys of three kinds).
public enum ParameterKind: String, Sendable, Hashable, CaseIterable {
  /// A synchronization parameter: in saved sets on the device, each of which is a subscription.
  case synchronization
  /// A personalization key that the device keeps.
  case client
  /// A personalization key that the server keeps for the user, for all of their devices.
  case server
  /// A personalization key that is forgotten when the app ends.
  case session
}
