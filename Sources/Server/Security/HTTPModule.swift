import Dispatch
import FerryHTTP
import FerryHTTPClient
import FerryServer
import FoundationEssentials
import Synchronization

/// Asks a service of HTTP with the user's name and password (Basic): whom it lets in is let in.
package struct HTTPModule: LoginModule {
  /// Which answers of a service let a user in.
  package struct Settings: Sendable {
    package var address: String
    /// A cookie of this name in the answer is a success, whatever the status.
    package var cookie: String?
    /// The field of the answer with the user's roles, separated by commas.
    package var rolesField: String?
    package var successStatus: Int = 200
    /// For the whole answer.
    package var deadline: Duration = .seconds(5)

    package init(address: String) { self.address = address }
  }

  package let kind = "http"
  package let looksUpUsers: Bool = false
  private let settings: Settings
  private let transport: any Transport

  /// The transport decides which addresses may be connected to, and whom it trusts.
  package init(_ settings: Settings, transport: any Transport) {
    self.settings = settings
    self.transport = transport
  }

  package func record(of user: String) -> UserRecord? { nil }

  package func judge(user: String, password: String) -> LoginOutcome {
    // Basic ends the name at the first colon: another name would be asked for.
    guard !user.isEmpty, !user.utf8.contains(UInt8(ascii: ":")), HTTPModule.isPlain(user),
      HTTPModule.isPlain(password)
    else { return .refused("the name or the password cannot be sent") }
    var request = TransportRequest(url: settings.address)
    let pair = Data("\(user):\(password)".utf8).base64EncodedString()
    request.headers["Authorization"] = "Basic \(pair)"
    request.deadlines = TransportDeadlines(
      connect: settings.deadline, total: settings.deadline, idle: settings.deadline)
    switch answer(to: request) {
    case .failure(let error): return .away(error.message)
    case .success(let answer): return outcome(answer, user)
    }
  }

  private func outcome(_ answer: TransportResponse, _ user: String) -> LoginOutcome {
    let hasCookie = settings.cookie.map { HTTPModule.has($0, answer.headers) } ?? false
    guard hasCookie || answer.status == settings.successStatus else {
      let what = "it answers with status \(answer.status)"
      return answer.status >= 500 || answer.status == 429 ? .away(what) : .refused(what)
    }
    let lines = settings.rolesField.map { answer.headers.values($0) } ?? []
    let roles = lines.flatMap { $0.split(separator: ",") }.map { HTTPModule.trim($0) }
    return .accepted(UserRecord(name: user, roles: roles.filter { !$0.isEmpty }))
  }

  /// One without a value is how a service takes a cookie away.
  private static func has(_ cookie: String, _ headers: HTTPHeaders) -> Bool {
    headers.values("Set-Cookie").contains { line in
      let pair = line.prefix { $0 != ";" }.split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return pair.count == 2 && trim(pair[0]) == cookie
        && !["", "\"\"", "deleted"].contains(trim(pair[1]))
    }
  }

  private static func trim(_ text: some StringProtocol) -> String {
    let start = text.drop { $0 == " " || $0 == "\t" }
    let end = start.lastIndex { $0 != " " && $0 != "\t" }
    return end.map { String(start[...$0]) } ?? ""
  }

  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }

  /// Waits on the calling thread, which is one of its own.
  private func answer(to request: TransportRequest) -> Result<TransportResponse, TransportError> {
    let done = DispatchSemaphore(value: 0)
    let found = Mutex<Result<TransportResponse, TransportError>?>(nil)
    let store: @Sendable (Result<TransportResponse, TransportError>) -> Void = { result in
      found.withLock { $0 = result }
    }
    let transport = transport
    Task.detached {
      do throws(TransportError) {
        let answer = try await transport.send(request)
        answer.body.cancel()
        store(.success(answer))
      } catch {
        store(.failure(error))
      }
      done.signal()
    }
    done.wait()
    guard let result = found.withLock({ $0 }) else {
      preconditionFailure("a request ended without a result")
    }
    return result
  }
}
