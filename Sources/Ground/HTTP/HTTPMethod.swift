/// What a request wants done, as the token that stands on its first line.
public struct HTTPMethod: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  public let rawValue: String

  /// Takes the token as it is: methods are case-sensitive.
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let get = HTTPMethod(rawValue: "GET")
  public static let head = HTTPMethod(rawValue: "HEAD")
  public static let post = HTTPMethod(rawValue: "POST")
  public static let put = HTTPMethod(rawValue: "PUT")
  public static let patch = HTTPMethod(rawValue: "PATCH")
  public static let delete = HTTPMethod(rawValue: "DELETE")
  public static let options = HTTPMethod(rawValue: "OPTIONS")

  /// Doing it twice leaves the same state as doing it once (RFC 9110, 9.2.2).
  public var isIdempotent: Bool {
    switch self {
    case .get, .head, .put, .delete, .options: true
    default: false
    }
  }

  public var description: String { rawValue }
}
