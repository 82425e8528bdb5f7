import FerryAdmin
import FerryHTTP
import FerryJSON
import FerryWorld

/// The control center in a browser. Each page is made of answers of the admin API, and each form becomes
/// one request to it: nothing can be seen or done here that the API does not have.
///
/// Reading and deciding work without a script. All pages are at one depth and all links are relative,
/// so that a proxy may put a prefix before them.
package struct Console: Sendable {
  let server: AdminServer
  private let log: any Log

  package init(_ server: AdminServer, log: any Log) {
    self.server = server
    self.log = log
  }

  package func admit(_ request: HTTPRequest) -> HTTPAdmission { server.admit(request) }

  /// Never throws.
  package func answer(_ request: HTTPRequest) async -> HTTPResponse {
    if AdminAPI.isMeant(by: request) { return await server.answer(request) }
    guard let segments = request.pathSegments, segments.count <= 1 else {
      return notFound(nil).response
    }
    let name = segments.first ?? ""
    switch (request.method, name) {
    case (.get, "console.css"), (.head, "console.css"):
      return file(PackageResources.console_css, "text/css; charset=utf-8")
    case (.get, "console.js"), (.head, "console.js"):
      return file(PackageResources.console_js, "text/javascript; charset=utf-8")
    case (.get, "login"): return LoginPage.page(nil).response
    case (.post, "login"): return await logIn(request)
    case (.get, _), (.head, _):
      guard let caller = server.gate.session(of: request), let session = caller.session else {
        return toLogin(request)
      }
      let reader = Reader(
        server.api, caller.person, session.csrf, server.gate.address(of: request))
      return await page(name, AdminServer.query(request), reader, nil).response
    case (.post, _): return await post(request, name)
    default:
      return HTTPResponse(status: 405, headers: ["Allow": "GET, HEAD, POST"])
    }
  }

  private func file(_ bytes: [UInt8], _ type: String) -> HTTPResponse {
    var headers = Page.headers(type)
    headers["Cache-Control"] = "no-cache"
    return HTTPResponse(status: 200, headers: headers, body: .bytes(bytes))
  }

  // Login.

  private func toLogin(_ request: HTTPRequest) -> HTTPResponse {
    var headers = Page.headers("text/plain; charset=utf-8")
    var address = "login"
    let name = request.pathSegments?.first ?? ""
    if !name.isEmpty {
      let query = request.query.map { "?\($0)" } ?? ""
      address += "?next=\(PercentEncoding.encode(name + query))"
    }
    headers["Location"] = address
    return HTTPResponse(status: 303, headers: headers, body: .bytes([]))
  }

  private func logIn(_ request: HTTPRequest) async -> HTTPResponse {
    do throws(AdminError) {
      try server.gate.requireOwnOrigin(request)
      guard let form = FormBody(request) else {
        throw AdminError(400, "badRequest", "the form cannot be read", hint: "Load the page again.")
      }
      let (_, token, _) = try await server.begin(form["user"], form["password"], request)
      var headers = Page.headers("text/plain; charset=utf-8")
      headers["Location"] = LoginPage.place(request.queryValue("next"))
      headers["Set-Cookie"] = server.gate.setCookie(token)
      return HTTPResponse(status: 303, headers: headers, body: .bytes([]))
    } catch {
      var page = LoginPage.page(request.queryValue("next"))
      page.fail(error)
      return page.response
    }
  }

  // Pages.

  private func page(
    _ name: String, _ query: [String: String], _ reader: Reader, _ notice: Notice?
  ) async -> Page {
    var page: Page
    do throws(AdminError) {
      switch name {
      case "", "overview": page = try await OverviewPage.page(reader)
      case "operations": page = try await OperationsPage.page(reader, query)
      case "operation": page = try await OperationPage.page(reader, query)
      case "causes": page = try await CausesPage.page(reader)
      case "outcomes": page = try await OutcomesPage.page(reader)
      case "devices": page = try await DevicesPage.page(reader, query)
      case "device": page = try await DevicePage.page(reader, query)
      case "data": page = try await DataPage.page(reader)
      case "why": page = try await WhyPage.page(reader, query)
      case "logs": page = try await LogsPage.page(reader, query)
      case "timeline": page = try await TimelinePage.page(reader, query)
      case "audit": page = try await AuditPage.page(reader, query)
      default: page = notFound(reader)
      }
    } catch {
      page = Page("It could not be done", reader.person, csrf: reader.csrf)
      page.fail(error)
    }
    if let notice { (page.notice, page.isProblem) = (notice.text, notice.isProblem) }
    if let notice, notice.isProblem { page.status = notice.status }
    return page
  }

  private func notFound(_ reader: Reader?) -> Page {
    var page = Page("There is no such page", reader?.person, csrf: reader?.csrf ?? "")
    page.status = 404
    page.body.element("p", "Go to the overview, and choose from there.")
    page.body.markup(#"<p><a href="overview">Overview</a></p>"#)
    return page
  }

  // Forms.

  private func post(_ request: HTTPRequest, _ name: String) async -> HTTPResponse {
    do throws(AdminError) {
      guard let form = FormBody(request) else {
        throw AdminError(400, "badRequest", "the form cannot be read", hint: "Load the page again.")
      }
      let caller = try await server.gate.caller(of: request, formToken: form["csrf"])
      let reader = Reader(
        server.api, caller.person, caller.session?.csrf ?? "", server.gate.address(of: request))
      if name == "logout" {
        server.end(request, caller.person)
        var headers = Page.headers("text/plain; charset=utf-8")
        headers["Location"] = "login"
        headers["Set-Cookie"] = AdminGate.endCookie
        return HTTPResponse(status: 303, headers: headers, body: .bytes([]))
      }
      guard let deed = Deed(name, form) else { return notFound(reader).response }
      let notice = await reader.perform(deed)
      return await page(name, deed.query, reader, notice).response
    } catch {
      var page = Page("It could not be done", nil)
      page.fail(error)
      page.body.markup(#"<p><a href="overview">Overview</a></p>"#)
      return page.response
    }
  }
}

extension Page {
  mutating func fail(_ error: AdminError) {
    status = error.status
    notice = "\(error.message). \(error.hint)"
    isProblem = true
  }
}

/// What became of what a form asked for.
struct Notice: Sendable {
  let text: String
  var isProblem: Bool = false
  var status: Int = 200
}

/// Asks the API for one operator.
struct Reader: Sendable {
  private let api: AdminAPI
  let person: Operator
  let csrf: String
  private let address: String

  init(_ api: AdminAPI, _ person: Operator, _ csrf: String, _ address: String) {
    self.api = api
    self.person = person
    self.csrf = csrf
    self.address = address
  }

  func get(_ path: String..., query: [String: String] = [:]) async throws(AdminError) -> JSONNode {
    let answer = await api.answer(
      AdminCall(.get, path, by: person, from: address, query: query))
    return try Reader.read(answer)
  }

  func perform(_ deed: Deed) async -> Notice {
    let body: JSONNode
    do { body = try JSONNode.parse(deed.body) } catch {
      return Notice(
        text: "The form cannot be read. Load the page again.", isProblem: true, status: 400)
    }
    let answer = await api.answer(
      AdminCall(.post, deed.path, by: person, from: address, body: body))
    do throws(AdminError) {
      let node = try Reader.read(answer)
      return Notice(text: deed.sentence(node))
    } catch {
      return Notice(text: "\(error.message). \(error.hint)", isProblem: true, status: error.status)
    }
  }

  private static func read(_ answer: AdminAnswer) throws(AdminError) -> JSONNode {
    guard let node = try? JSONNode.parse(answer.json) else {
      throw AdminError(500, "internal", "the answer cannot be read", hint: "Look at ferryd's log.")
    }
    guard answer.status == 200 else {
      throw AdminError(
        answer.status, node["code"]?.string ?? "", node["message"]?.string ?? "",
        hint: node["hint"]?.string ?? "")
    }
    return node
  }
}
