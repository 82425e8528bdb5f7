// The login page of a company in an app for Apple's systems. Copy this file into the app.
import AuthenticationServices
import FerryOpenID
import Foundation

/// Shows the page in the system's own browser session, which has the logins that the user has
/// already. `Scripts/check company-login` keeps its types right.
@MainActor
final class AppleBrowser: NSObject, LoginBrowser {
  /// Of the app alone, and registered with the issuer: `com.example.sales`.
  private let scheme: String
  private let window: ASPresentationAnchor
  private var session: ASWebAuthenticationSession?

  init(scheme: String, window: ASPresentationAnchor) {
    self.scheme = scheme
    self.window = window
  }

  nonisolated func redirect() async throws -> String { "\(scheme):/login" }

  nonisolated func show(_ address: String, until redirect: String) async throws -> String {
    guard let url = URL(string: address) else { throw URLError(.badURL) }
    return try await withTaskCancellationHandler {
      try await begin(url)
    } onCancel: {
      Task { await self.session?.cancel() }
    }
  }

  private func begin(_ url: URL) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      let session = ASWebAuthenticationSession(url: url, callback: .customScheme(scheme)) {
        answer, error in
        if let answer {
          continuation.resume(returning: answer.absoluteString)
        } else if (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin {
          continuation.resume(throwing: CancellationError())
        } else {
          continuation.resume(throwing: error ?? URLError(.unknown))
        }
      }
      session.presentationContextProvider = self
      self.session = session
      if !session.start() {
        continuation.resume(throwing: URLError(.cannotLoadFromNetwork))
      }
    }
  }
}

extension AppleBrowser: ASWebAuthenticationPresentationContextProviding {
  nonisolated func presentationAnchor(
    for session: ASWebAuthenticationSession
  ) -> ASPresentationAnchor { MainActor.assumeIsolated { window } }
}
