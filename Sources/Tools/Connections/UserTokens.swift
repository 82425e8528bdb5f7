import Dispatch
import FerryConnector
import FerryCrypto
import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryWorld
import Foundation
import Synchronization

/// Access tokens of users, each got by what we sign for the user: no token of a device is kept.
final class UserTokens: UserCredentials {
  private let way: TokenWay
  private let signer: TokenSigner
  private let transport: any Transport
  private let clock: any WorldClock
  /// Of each user; the oldest go where there are too many.
  private let known = Mutex<[String: Credential]>([:])
  private static let limit: Int = 1_000
  /// A token is not used in its last moments.
  private static let margin: Duration = .seconds(60)

  /// Reads the key.
  init(
    _ way: TokenWay, transport: any Transport, clock: any WorldClock
  ) throws(ConnectionsError) {
    self.way = way
    signer = try TokenSigner(file: way.keyFile, keyID: way.keyID)
    self.transport = transport
    self.clock = clock
  }

  func credential(
    of user: String, insteadOf rejected: Credential?
  ) throws(ConnectorError) -> Credential? {
    let now = clock.moment
    let cached = known.withLock { $0[user] }
    if let cached, cached != rejected, cached.expires.map({ $0 > now }) ?? true { return cached }
    let found = try ask(for: user)
    known.withLock { known in
      if known.count >= UserTokens.limit { known = [:] }
      known[user] = found
    }
    return found
  }

  /// Nil where the service that gives tokens has none for the user.
  private func ask(for user: String) throws(ConnectorError) -> Credential? {
    let request: TransportRequest
    do throws(ConnectionsError) { request = try self.request(for: user) } catch {
      throw ConnectorError(error.message, hint: error.hint, isTransient: true)
    }
    let (transport, address) = (transport, way.address)
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
      let lifetime = root?["expires_in"]?.integer
      return Credential(
        .bearer(token),
        expires: lifetime.map {
          clock.moment.advanced(by: max(.seconds($0) - UserTokens.margin, .zero))
        })
    }
    // The user is unknown there, or may not have one. What is wrong with us is no reason to wait for
    // the user.
    let code = root?["error"]?.string
    let isUsers = code == "invalid_grant" || code == "access_denied" || status == 403
    if isUsers { return nil }
    throw ConnectorError(
      "\(address) gave no token: status \(status)\(code.map { ", \($0)" } ?? "")",
      hint: "Check \"users\" of the connection.", isTransient: true)
  }

  private func request(for user: String) throws(ConnectionsError) -> TransportRequest {
    let signed = try signer.token(
      [("iss", way.issuer), ("sub", user), ("aud", way.audience)], at: clock.now)
    var form: [(String, String)] = []
    switch way.grant {
    case .bearer:
      form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", signed),
      ]
    case .exchange:
      form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("subject_token", signed),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
      ]
    }
    if let resource = way.resource { form.append(("resource", resource)) }
    if let scope = way.scope { form.append(("scope", scope)) }
    var request = TransportRequest(url: way.address, method: .post)
    if let client = way.client {
      if let secret = way.clientSecret {
        let pair = "\(PercentEncoding.encode(client)):\(PercentEncoding.encode(try secret.read()))"
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

/// Waits on a connector's own thread for a task on another one.
enum Blocking {
  static func wait<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
    let done = DispatchSemaphore(value: 0)
    let result = Mutex<Value?>(nil)
    let store: @Sendable (Value) -> Void = { value in result.withLock { $0 = value } }
    Task.detached {
      store(await body())
      done.signal()
    }
    done.wait()
    guard let value = result.withLock({ $0 }) else { preconditionFailure("no result of a task") }
    return value
  }
}
