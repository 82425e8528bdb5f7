// Stands in for Apple's framework where the types of AppleBrowser.swift are checked; it does nothing.
public import Foundation

@MainActor public final class ASPresentationAnchor {}

public protocol ASWebAuthenticationPresentationContextProviding: AnyObject {
  func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

public struct ASWebAuthenticationSessionError: Error {
  public enum Code: Sendable { case canceledLogin, presentationContextNotProvided }
  public let code: Code
}

public final class ASWebAuthenticationSession: NSObject, @unchecked Sendable {
  public struct Callback: Sendable {
    public static func customScheme(_ scheme: String) -> Callback { Callback() }
  }
  public weak var presentationContextProvider:
    (any ASWebAuthenticationPresentationContextProviding)?
  public init(
    url: URL, callback: Callback,
    completionHandler: @escaping @Sendable (URL?, (any Error)?) -> Void
  ) {}
  public func start() -> Bool { false }
  public func cancel() {}
}
