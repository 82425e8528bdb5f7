import FerryHTTP
import FerryHTTPClient

/// The body of a request whose links lead to the door, and have to lead to the service.
///
/// Only what fits in memory is rewritten, as its new length has to be announced: many services take no
/// chunks. A larger text goes on as it is.
enum SmallUpload {
  static let bytes: Int = 256 * 1024

  enum Outcome {
    /// `received`: how many bytes the caller sent.
    case whole([UInt8], received: Int)
    case stream(ForwardedBody)
    case cut
  }

  /// `service`: nil where nothing is rewritten.
  static func read(
    _ request: HTTPRequest, _ stream: any HTTPBodySource, _ service: Gateway.Service?
  ) async -> Outcome {
    let announced = request.headers["Content-Length"].flatMap { Int($0) } ?? 0
    let coding = request.headers["Content-Encoding"]?.lowercased() ?? "identity"
    guard let service, let links = service.doorLinks, announced <= bytes, coding == "identity",
      var rewriter = LinkText.rewriter(
        of: request.headers["Content-Type"] ?? "", links, paths: service.paths)
    else { return .stream(ForwardedBody(stream)) }
    var whole: [UInt8] = []
    while whole.count <= bytes {
      switch await stream.next() {
      case .bytes(let piece): whole += piece
      case .end: return .whole(rewriter.take(whole) + rewriter.finish(), received: whole.count)
      case .abort: return .cut
      }
    }
    return .stream(ForwardedBody(stream, behind: whole))
  }

  static let cut = TransportError(
    code: .unreadableBody, message: ForwardedBody.Cut().description, hint: "Send it again.",
    isTransient: true, requestWasSent: false)
}
