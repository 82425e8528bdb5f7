import FerryConnector
import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryModel
import FerryWorld

/// A request as it is made for the service.
struct RESTRequest: Sendable {
  /// Absolute.
  var url: String
  var method: HTTPMethod = .get
  var headers: HTTPHeaders = HTTPHeaders()
  var body: [UInt8] = []
}

/// What came back, before anything is read into it.
enum RESTAnswer: Sendable {
  /// The head and as much of the body as came; `isWhole` false where it ended early.
  case answer(status: Int, headers: HTTPHeaders, body: [UInt8], isWhole: Bool)
  case notDone(String)
  case lost(String)
  case needsCredential
}

extension RESTConnection {
  static let answerBytes = 64 << 20

  /// Sends a request with a credential, which is asked for once more where it is not accepted. Blocks.
  /// `user`: nil for the technical one.
  func send(_ given: RESTRequest, as user: String? = nil) -> RESTAnswer {
    if let pause {
      return .notDone("the service asked for a pause; \(pause.components.seconds + 1) s are left")
    }
    var rejected: Credential?
    for _ in 0..<2 {
      var request = given
      do throws(ConnectorError) {
        guard let found = try credential(of: user, insteadOf: rejected) else {
          return .needsCredential
        }
        for field in found.headers.fields { request.headers[field.name] = field.value }
        rejected = found.credential
      } catch {
        return .notDone(error.description)
      }
      let (ready, wait) = (request, turn())
      let answer = Bridge.wait { await self.exchange(ready, after: wait) }
      note(answer)
      guard case .answer(401, _, _, _) = answer, rejected != nil else { return answer }
    }
    return .needsCredential
  }

  private func exchange(_ request: RESTRequest, after wait: Duration) async -> RESTAnswer {
    if wait > .zero {
      do { try await Task.sleep(for: wait) } catch { return .notDone("the request was cancelled") }
    }
    var sent = TransportRequest(
      url: request.url, method: request.method, headers: request.headers, body: request.body,
      deadlines: deadlines)
    sent.acceptsCompressed = true
    let response: TransportResponse
    do throws(TransportError) { response = try await transport.send(sent) } catch {
      let isAway = error.code == .cannotConnect || error.code == .tls
      return isAway || !error.requestWasSent ? .notDone(error.message) : .lost(error.message)
    }
    do throws(TransportError) {
      let body = try await response.body.collect(limitBytes: RESTConnection.answerBytes)
      return .answer(
        status: response.status, headers: response.headers, body: body, isWhole: true)
    } catch {
      return .answer(status: response.status, headers: response.headers, body: [], isWhole: false)
    }
  }

  private func note(_ answer: RESTAnswer) {
    switch answer {
    case .answer(let status, let headers, _, _):
      memory.noteReached(true)
      guard status == 429 || status == 503 else { return }
      let seconds = headers["Retry-After"].flatMap { text in
        Int64(text) ?? HTTPDate.seconds(text).map { Int64($0) - clock.now.milliseconds / 1_000 }
      }
      if let seconds, seconds > 0 { pause(.seconds(min(seconds, 86_400))) }
    case .notDone: memory.noteReached(false)
    case .lost, .needsCredential: return
    }
  }

  /// An address of the service with its own in front.
  func url(_ path: String) -> String { address + path }

  /// Where a link of an answer leads; nil where that is not the service.
  func follow(_ link: String, from url: String) -> String? {
    let link = String(link.prefix { $0 != "#" })
    guard link.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C }), !link.isEmpty,
      link.utf8.count <= 8_000
    else { return nil }
    let full: String
    if HTTPAddress(link) != nil {
      full = link
    } else if link.hasPrefix("//") || link.prefix(while: { $0 != "/" && $0 != "?" }).contains(":") {
      return nil
    } else if link.hasPrefix("/") {
      full = base + link
    } else if link.hasPrefix("?") {
      full = String(url.prefix { $0 != "?" }) + link
    } else {
      let path = url.prefix { $0 != "?" }
      guard let slash = path.lastIndex(of: "/") else { return nil }
      full = path[...slash] + link
    }
    guard !RESTConnection.namesUser(full), let parts = HTTPAddress(full), parts.origin == origin
    else { return nil }
    let path = parts.path + full.drop { $0 != "?" }
    return AddressTemplate.staysInside(path) ? full : nil
  }

  /// Whether an address has a name or a password in front of its host.
  private static func namesUser(_ url: String) -> Bool {
    guard let start = url.firstRange(of: "://")?.upperBound else { return false }
    return url[start...].prefix { !["/", "?", "#"].contains($0) }.contains("@")
  }

  /// Scheme, host and port as the address has them.
  private var base: String {
    guard let start = address.firstRange(of: "://")?.upperBound,
      let slash = address[start...].firstIndex(of: "/")
    else { return address }
    return String(address[..<slash])
  }
}
