import FerryCrypto
import FerryHTTP
import FerryHTTPServer
import FerryOpenID
import Foundation
import Synchronization

/// Lets the user log in with their own browser: shows the page's address in the terminal, and waits
/// at an address of this machine for the answer (RFC 8252, 7.3).
final class LoopbackBrowser: LoginBrowser {
  private static let path = "/callback"

  private struct State {
    var server: HTTPServer?
    var waiter: CheckedContinuation<String, any Error>?
    var answer: Result<String, any Error>?
    /// The `state` of the page that is shown. Any page and any program of this machine may send
    /// requests here; only the issuer's answer has it.
    var expected: String?
  }

  private let state = Mutex(State())

  deinit { state.withLock { $0.server }?.stop(grace: .seconds(1)) }

  func redirect() async throws -> String {
    let server = try HTTPServer(
      configuration: HTTPServerConfiguration(address: "127.0.0.1", port: 0),
      doorman: { _ in .take(bodyBytes: 0) },
      handler: { [weak self] request in
        guard let self, request.method == .get, request.path == LoopbackBrowser.path else {
          return .text(404, "There is nothing here.")
        }
        guard self.take(request) else {
          return .text(400, "This is not the answer to the login that waits here.")
        }
        return .text(200, "You can close this window and return to the terminal.")
      })
    try server.start()
    let thread = Thread { server.run() }
    thread.name = "ferry-login"
    thread.start()
    state.withLock { $0.server = server }
    return "http://127.0.0.1:\(server.boundPort)\(LoopbackBrowser.path)"
  }

  func show(_ address: String, until redirect: String) async throws -> String {
    let query = address.split(separator: "?", maxSplits: 1).last.map(String.init)
    let expected = HTTPRequest(method: .get, path: "/", query: query).queryValue("state")
    state.withLock { $0.expected = expected }
    Terminal.error("Open this page and log in:\n\n  \(Terminal.harmless(address))\n")
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let known = state.withLock { state -> Result<String, any Error>? in
          if state.answer == nil { state.waiter = continuation }
          return state.answer
        }
        if let known { continuation.resume(with: known) }
      }
    } onCancel: {
      self.end(.failure(CancellationError()))
    }
  }

  /// Whether it is the answer that is waited for.
  private func take(_ request: HTTPRequest) -> Bool {
    let expected = state.withLock { $0.expected }
    guard let expected, let given = request.queryValue("state"),
      equalInConstantTime(Array(given.utf8), Array(expected.utf8))
    else { return false }
    let address =
      state.withLock { $0.server?.boundPort }
      .map { "http://127.0.0.1:\($0)\(request.path)" } ?? ""
    end(.success(address + (request.query.map { "?\($0)" } ?? "")))
    return true
  }

  /// The first answer counts.
  private func end(_ result: Result<String, any Error>) {
    let waiter = state.withLock { state -> CheckedContinuation<String, any Error>? in
      if state.answer == nil { state.answer = result }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(with: result)
  }
}

/// Shows a code in the terminal.
final class TerminalCode: DeviceCodePrompt {
  func show(_ code: DeviceCode) async {
    Terminal.error(
      """
      Open \(Terminal.harmless(code.wholeAddress ?? code.address))
      and type the code  \(Terminal.harmless(code.userCode))
      """)
  }
}
