import FerryHTTP
import FerryHTTPClient
import FerryLogger
import FerryTrace

/// Sends traces and logs to an address over a transport, each body as one POST.
///
/// It waits for 30 seconds at most, unless `deadlines` say otherwise, so a collector that hangs
/// does not block the app longer. It never repeats a request.
public struct TransportReceiver: TraceReceiver, LogReceiver {
  private let transport: any Transport
  private let address: String
  private let headers: HTTPHeaders
  private let deadlines: TransportDeadlines

  /// `address` is absolute, such as a collector's `https://host/v1/traces`; `headers` carry the
  /// login.
  public init(
    _ transport: any Transport = SystemTransport.make(), address: String,
    headers: HTTPHeaders = [:], deadlines: TransportDeadlines = TransportReceiver.patience
  ) {
    self.transport = transport
    self.address = address
    self.headers = headers
    self.deadlines = deadlines
  }

  /// 10 seconds for the connection, 30 in total.
  public static let patience = TransportDeadlines(
    connect: .seconds(10), total: .seconds(30), idle: .seconds(30))

  /// Returns the status of the answer; throws `TransportError` when there was none in time.
  public func send(_ body: [UInt8], contentType: String) async throws -> Int {
    var headers = headers
    headers["Content-Type"] = contentType
    let response = try await transport.send(
      TransportRequest(
        url: address, method: .post, headers: headers, body: body, deadlines: deadlines))
    _ = try await response.body.collect(limitBytes: Self.answerLimitBytes)
    return response.status
  }

  /// Returns when the server has accepted the records; throws `RefusedUpload` if it has not.
  public func send(_ body: [UInt8], contentType: String) async throws {
    let status: Int = try await send(body, contentType: contentType)
    guard (200..<300).contains(status) else { throw RefusedUpload(status: status) }
  }

  private static let answerLimitBytes = 1 << 20
}

/// The error of a log upload: the answer's status was not a success.
public struct RefusedUpload: Error, Equatable, CustomStringConvertible {
  public let status: Int
  public var description: String { "the receiver answered \(status)" }
}
