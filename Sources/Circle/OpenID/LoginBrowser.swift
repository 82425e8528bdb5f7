public import FerryWorld

/// Shows the issuer's login page: in the system's browser session on a phone, in the user's browser
/// for a terminal.
///
/// It must be the system's browser, not a view of the app. A view could read passwords, and it does
/// not have the logins that the user already has in the browser (RFC 8252).
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
  /// Such as `WDJB-MJHT`.
  public let userCode: String
  /// The page where it is typed.
  public let address: String
  /// The page with the code already filled in, for a QR code; nil if the issuer has none.
  public let wholeAddress: String?
  /// Until when the code is valid.
  public let expires: Timestamp
}
