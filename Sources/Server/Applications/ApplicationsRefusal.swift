import FerryHTTP
import FerryOData
import FerryRegistration
import FerryServer
import FerryText

/// Why a request is not answered as it was asked.
struct ApplicationsRefusal: Error {
  let code: RegistrationCode
  /// What it is about, such as the name of a property; never a secret.
  var subject: String?
  var retryAfterSeconds: Int64?
  /// A picture to read, where that is what is missing.
  var captcha: Captchas.Challenge?

  init(_ code: RegistrationCode, _ subject: String? = nil, retryAfterSeconds: Int64? = nil) {
    self.code = code
    self.subject = subject
    self.retryAfterSeconds = retryAfterSeconds
  }

  init(_ error: ServerError) {
    switch error.code {
    case .wrongLogin: self.init(.wrongCredentials)
    case .tooManyGuesses:
      self.init(.tooManyAttempts, retryAfterSeconds: error.retryAfterSeconds)
    case .deviceLocked: self.init(.deviceLocked)
    case .deviceWiped: self.init(.deviceWiped)
    case .ambiguousTemplate: self.init(.ambiguousTemplate)
    default: self.init(.serverBusy, retryAfterSeconds: error.retryAfterSeconds ?? 2)
    }
  }

  /// What happened, to what, and the cure.
  var message: String {
    let what = subject.map { " (\($0))" } ?? ""
    return "\(code.cause.dropLast())\(what). \(code.cure)"
  }

  func response(_ format: AnswerFormat) -> HTTPResponse {
    var document = ODataErrorDocument(code: String(code.rawValue), message: message)
    document.target = subject
    let status = code.status ?? 500
    let body: [UInt8]
    switch format {
    case .json: body = document.json(.v2)
    case .atom: body = (try? document.xml(.v2)) ?? []
    }
    var response = HTTPResponse(status: status, headers: [:], body: .bytes(body))
    response.headers["Content-Type"] =
      format == .json ? "application/json;charset=utf-8" : "application/xml;charset=utf-8"
    response.headers["DataServiceVersion"] = "2.0"
    response.headers["Cache-Control"] = "no-store"
    if let captcha {
      response.headers["X-SUP-CAPTCHA-ID"] = captcha.id
      response.headers["X-SUP-CAPTCHA-IMAGE"] = Base64.encode(captcha.picture)
    }
    if status == 401 {
      response.headers["WWW-Authenticate"] = "Basic realm=\"Ferry\", charset=\"UTF-8\""
    }
    let seconds = retryAfterSeconds ?? (status == 503 ? 2 : status == 429 ? 60 : nil)
    if let seconds { response.headers["Retry-After"] = String(seconds) }
    return response
  }
}

/// In which format an answer is written.
enum AnswerFormat: Sendable {
  case atom, json

  /// `$format` before `Accept`; Atom where neither says JSON.
  init(_ request: HTTPRequest) {
    if let format = request.queryValue("$format") {
      self = format.hasPrefix("json") || format.hasPrefix("application/json") ? .json : .atom
      return
    }
    let accept = request.headers.values("Accept").joined(separator: ",").lowercased()
    let json = accept.firstRange(of: "application/json")
    let atom = accept.firstRange(of: "xml")
    switch (json, atom) {
    case (let json?, let atom?): self = json.lowerBound < atom.lowerBound ? .json : .atom
    case (.some, nil): self = .json
    default: self = .atom
    }
  }
}
