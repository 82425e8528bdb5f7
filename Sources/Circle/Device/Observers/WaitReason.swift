/// What a change waits for that somebody else must bring.
///
/// More reasons may come with later versions: compare with those that the app knows.
public struct WaitReason: RawRepresentable, Sendable, Hashable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A login at the business system: it does not let this user in at present.
  public static let credential = WaitReason(rawValue: "credential")
}
