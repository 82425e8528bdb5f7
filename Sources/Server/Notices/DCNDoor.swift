import FerryHTTP
import FerryModel
import FerryServer

/// Data change notifications in the reference's form: `/dcn/DCNServlet` and `/dcn/HttpAuthDCNServlet`.
package final class DCNDoor: Sendable {
  /// Users with this role may send notifications.
  package static let role: String = "SUP DCN User"
  private static let plain = "/dcn/DCNServlet"
  private static let httpAuth = "/dcn/HttpAuthDCNServlet"
  /// Before 2.0; its answers are grouped.
  private static let old = "/onepage/servlet/UWPServlet"

  private let notices: @Sendable (String) -> [NoticeDesk]
  private let callers: @Sendable (String) -> CallerDesk?
  /// Of any package, to know who asks.
  private let anyone: @Sendable () -> CallerDesk?
  private let allowsPassword: Bool

  package init(_ server: ServerHost, senders: NoticeSenders) {
    notices = { server.notices(of: $0) }
    callers = { server.callerDoor?.desk(of: $0) }
    anyone = { server.anyCallers }
    allowsPassword = senders.allowsPasswordInAddress
  }

  /// With a single package, for tests.
  package init(_ desk: NoticeDesk, _ callers: CallerDesk, allowsPassword: Bool) {
    notices = { $0.lowercased() == desk.package.name.lowercased() ? [desk] : [] }
    self.callers = { $0.lowercased() == desk.package.name.lowercased() ? callers : nil }
    anyone = { callers }
    self.allowsPassword = allowsPassword
  }

  /// Whether a request is for this.
  package static func isMeant(by request: HTTPRequest) -> Bool {
    [plain, httpAuth, old].contains(request.path)
  }

  /// Judges a request by its head.
  package func admit(_ request: HTTPRequest) -> HTTPAdmission {
    guard request.method == .get || request.method == .post else {
      return .refuse(HTTPResponse.text(405, "A notification is sent by GET or POST."))
    }
    if request.path == DCNDoor.httpAuth, BasicLogin(request) == nil {
      return .refuse(DCNDoor.noLogin)
    }
    return .take(bodyBytes: DCNForm.bodyBytes)
  }

  private static let noLogin = HTTPResponse(
    status: 401,
    headers: [
      "WWW-Authenticate": "Basic realm=\"ferry\", charset=\"UTF-8\"",
      "Content-Type": "text/plain; charset=utf-8",
    ], body: .bytes(Array("The request carries no login.".utf8)))

  /// Never throws: what goes wrong is an answer.
  package func answer(_ request: HTTPRequest) async -> HTTPResponse {
    let form: DCNForm
    do throws(DCNForm.Fault) {
      form = try DCNForm(request, allowsPassword: allowsPassword)
    } catch { return HTTPResponse.text(error.status, error.text + ".") }
    let name = String(form.package.prefix { $0 != ":" })
    let login: BasicLogin?
    if request.path == DCNDoor.httpAuth {
      login = BasicLogin(request)
    } else {
      login = form.user.flatMap { user in form.password.map { BasicLogin(user, $0) } }
    }
    guard let login else { return DCNDoor.noLogin }
    // Whether there is a package is said only to who may ask.
    guard let callers = callers(name) ?? anyone() else {
      return HTTPResponse.text(400, "There is no package \(form.package.prefix(80)).")
    }
    let caller: Caller
    do throws(ServerError) {
      caller = try await callers.door.login(
        user: login.user, password: login.password, request)
      guard callers.roles(of: caller).contains(DCNDoor.role) else {
        return HTTPResponse.text(403, "The user lacks the role \(DCNDoor.role).")
      }
      try await callers.check(caller)
    } catch { return DCNDoor.refusal(error) }
    let desks = notices(name)
    let desk = desks.first { $0.package.id.lowercased() == form.package.lowercased() }
    guard let desk, callers.package.name.lowercased() == name.lowercased() else {
      return HTTPResponse.text(400, "There is no package \(form.package.prefix(80)).")
    }
    do throws(ServerError) {
      let work = DCNWork(desk: desk, callers: callers, caller: caller)
      return try await work.answer(form, isGrouped: request.path == DCNDoor.old)
    } catch { return DCNDoor.refusal(error) }
  }

  private static func refusal(_ error: ServerError) -> HTTPResponse {
    switch error.code {
    case .wrongLogin: noLogin
    case .badRequest, .deviceLocked: HTTPResponse.text(403, "\(error.message).")
    case .tooManyGuesses: HTTPResponse.text(429, "\(error.message).")
    default: HTTPResponse.text(500, "\(error.message).")
    }
  }
}
