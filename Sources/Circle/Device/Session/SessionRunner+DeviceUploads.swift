import FerryHTTP
import FerryHTTPClient

/// What an app sends to the server's operator, beside its data.
public enum DeviceUpload: String, Sendable, Hashable, CaseIterable {
  /// Records of a log, as `LogExport` or `LogUpload` of `FerryLogger` makes them.
  case logs
  /// A trace in the JSON form of OTLP, as `TraceSpans` of `FerryTrace` makes it.
  case traces
}

extension SessionRunner {
  func upload(_ body: [UInt8], as kind: DeviceUpload) async throws(FerryError) {
    guard !isStopped else { throw Store.closed(session.store.path) }
    guard let token = try session.token(.accessToken) else { throw SessionRunner.noSession }
    let call = TransportRequest(
      url: address(of: kind.rawValue), method: .post,
      headers: [
        "Authorization": "Bearer \(token)",
        "Content-Type": kind == .logs ? "application/gzip" : "application/json",
      ], body: body,
      deadlines: TransportDeadlines(
        connect: profile.connectTimeout, total: .seconds(30), idle: .seconds(30)))
    let (status, text): (Int, [UInt8])
    do throws(TransportError) {
      let response = try await transport.send(call)
      status = response.status
      text = try await response.body.collect(limitBytes: 64 << 10)
    } catch {
      throw FerryError.offline(error)
    }
    if status == 401 { throw SessionRunner.noSession }
    guard (200..<300).contains(status) else { throw Requests.serverError(text, status: status) }
  }

  private static let noSession = FerryError(
    .notLoggedIn, "there is no valid session now",
    hint: "Synchronize, which renews it, and send again.", isTransient: true)
}
