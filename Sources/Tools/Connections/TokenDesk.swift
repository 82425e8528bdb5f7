import FerryConnector
import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryWorld
import Foundation

/// Asks a service that gives access tokens (RFC 6749).
struct TokenDesk: Sendable {
  let address: String
  let client: String?
  let clientSecret: Secret?
  let transport: any Transport
  let clock: any WorldClock

  enum Answer: Sendable {
    /// `lifetime`: nil where the service does not say it.
    case token(String, lifetime: Duration?)
    case refused(status: Int, code: String?)
  }

  /// Blocks. Throws where nobody answers, or where a secret of ours cannot be read.
  func ask(_ form: [(String, String)]) throws(ConnectorError) -> Answer {
    let request: TransportRequest
    do throws(ConnectionsError) { request = try self.request(form) } catch {
      throw ConnectorError(error.message, hint: error.hint, isTransient: true)
    }
    let (transport, address) = (transport, address)
    let answer = Blocking.wait { () async -> Result<(Int, [UInt8]), ConnectorError> in
      do throws(TransportError) {
        let response = try await transport.send(request)
        return .success((response.status, try await response.body.collect(limitBytes: 1 << 16)))
      } catch {
        return .failure(
          ConnectorError(
            "\(address) gives no tokens: \(error.message)", hint: "It is tried again.",
            isTransient: true))
      }
    }
    let (status, body) = try answer.get()
    let root = try? JSONNode.parse(body)
    if status == 200, let token = root?["access_token"]?.string, !token.isEmpty,
      !token.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F })
    {
      let seconds = root?["expires_in"]?.integer
      // Beyond a year nobody can tell.
      return .token(token, lifetime: seconds.map { .seconds(min(max($0, 0), 31_536_000)) })
    }
    return .refused(status: status, code: root?["error"]?.string)
  }

  func fault(_ status: Int, _ code: String?, cure: String) -> ConnectorError {
    ConnectorError(
      "\(address) gave no token: status \(status)\(code.map { ", \($0)" } ?? "")", hint: cure,
      isTransient: true)
  }

  private func request(
    _ given: [(String, String)]
  ) throws(ConnectionsError) -> TransportRequest {
    var form = given
    var request = TransportRequest(url: address, method: .post)
    if let client {
      if let clientSecret {
        let secret = PercentEncoding.encode(try clientSecret.read())
        let pair = "\(PercentEncoding.encode(client)):\(secret)"
        request.headers["Authorization"] = "Basic \(Data(pair.utf8).base64EncodedString())"
      } else {
        form.append(("client_id", client))
      }
    }
    request.headers["Content-Type"] = "application/x-www-form-urlencoded"
    request.headers["Accept"] = "application/json"
    request.body = Array(
      form.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&").utf8)
    request.deadlines = TransportDeadlines(
      connect: .seconds(10), total: .seconds(30), idle: .seconds(20))
    return request
  }
}
