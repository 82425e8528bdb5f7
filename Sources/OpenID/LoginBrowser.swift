public import FerryWorld

/// Shows the issuer's login page: a browser session of the system on a phone, the user's browser
/// beside a terminal.
///
/// It must be the system's browser, not a view of the app: a view could read passwords, and has none
/// of the logins that the user has already (RFC 8252).
public protocol LoginBrowser: AnyObject, Sendable {
  /// Where the page sends the user at the end: an address of the app's own scheme, such as
  /// `com.example.sales:/login`, or one of this machine. Called first for each login.
  func redirect() async throws -> String

  /// Shows the page and returns the whole address to which it sent the user: one that begins with
  /// `redirect`. Throws `OpenIDError.cancelled` where the user closed it.
  func show(_ address: String, until redirect: String) async throws -> String
}

/// Shows the user a code to type on another device.
public protocol DeviceCodePrompt: AnyObject, Sendable {
  /// Called once for each code. It returns as soon as the code is shown; the user then has until
  /// `expires`. Cancelling the task that asks for the token ends the waiting.
  func show(_ code: DeviceCode) async
}

/// A code that the user types on a page of the issuer (RFC 8628).
public struct DeviceCode: Sendable, Equatable {
  /// As `WDJB-MJHT`.
  public let userCode: String
  /// The page where it is typed.
  public let address: String
  /// The page with the code already typed, for a QR code; nil where the issuer has none.
  public let wholeAddress: String?
  /// Until when the code is good.
  public let expires: Timestamp
}
