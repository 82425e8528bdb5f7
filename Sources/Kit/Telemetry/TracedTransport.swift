import FerryHTTP
import FerryHTTPClient
import FerryTrace
import Synchronization

/// A transport whose requests are part of the trace that is running.
///
/// The OData client and the synchronization of `Ferry` take any transport: given this one, their
/// requests carry `SAP-PASSPORT`, `X-CorrelationID` and `traceparent`, and stand in the trace with
/// their times, sizes and statuses. While no trace runs it only hands on.
///
/// ```swift
/// let trace = TraceController(world: .system())
/// let session = ODataSession(TracedTransport(SystemTransport.make(), trace: trace))
/// ```
///
/// A header that a request brings itself stays. Addresses are kept without their query, since a
/// query may hold what is the user's.
public struct TracedTransport: Transport {
  private let transport: any Transport
  private let trace: TraceController

  public init(_ transport: any Transport, trace: TraceController) {
    self.transport = transport
    self.trace = trace
  }

  public func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    let path = request.url.prefix { $0 != "?" && $0 != "#" }
    guard let span = trace.requestIfOn(action: "\(request.method.rawValue) \(path.suffix(32))")
    else { return try await transport.send(request) }
    span.markReached()
    var outgoing = request
    for header in span.headers where request.headers[header.name] == nil {
      outgoing.headers[header.name] = header.value
    }
    span.update([
      "method": request.method.rawValue, "url": String(path),
      "sentBytes": String(request.body.count),
    ])
    span.markSending()
    do throws(TransportError) {
      let response = try await transport.send(outgoing)
      span.markReceiving()
      span.update(["status": String(response.status)])
      return TransportResponse(
        status: response.status, headers: response.headers,
        body: TracedBody(response.body, span))
    } catch {
      span.update(["error": error.code.rawValue])
      span.end()
      throw error
    }
  }
}

/// A body that ends the request in the trace when it is complete, broken or let go.
private final class TracedBody: TransportBody {
  private let body: any TransportBody
  private let span: TraceRequest
  private let count = Atomic<Int>(0)

  init(_ body: any TransportBody, _ span: TraceRequest) {
    self.body = body
    self.span = span
  }

  deinit { end() }

  func next() async throws(TransportError) -> [UInt8]? {
    do throws(TransportError) {
      if let piece = try await body.next() {
        count.add(piece.count, ordering: .relaxed)
        return piece
      }
      span.markReceived()
      end()
      return nil
    } catch {
      span.update(["error": error.code.rawValue])
      end()
      throw error
    }
  }

  func cancel() {
    body.cancel()
    end()
  }

  private func end() {
    span.update(["receivedBytes": String(count.load(ordering: .relaxed))])
    span.end()
  }
}
