import FerryWorld

/// Who makes a request, as the token says.
public struct Identity: Sendable, Equatable {
  public let user: String
  /// The device that the token was given to; nil where any device of the user is meant.
  public let device: String?
  public let roles: [String]
  /// Values of each claim as text; partition rules turn them into the type of their attribute.
  public let claims: [String: [String]]
  public let expires: Timestamp

  public init(
    user: String, device: String?, roles: [String] = [], claims: [String: [String]] = [:],
    expires: Timestamp
  ) {
    self.user = user
    self.device = device
    self.roles = roles
    self.claims = claims
    self.expires = expires
  }
}
