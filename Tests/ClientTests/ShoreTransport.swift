import Ferry
import FerryHTTPClient
import FerryJSON
import FerryModel
import FerryWire
import Synchronization

/// A network that ends at a `Shore`: every login is right, and what is asked is answered at once.
final class ShoreTransport: Transport {
  typealias Decide = @Sendable (Shore, Operation) -> Void
  private let shore: Mutex<Shore>
  private let decide: Decide

  /// `decide` accepts or refuses an operation when it comes.
  init(_ shore: sending Shore, decide: @escaping Decide) {
    self.shore = Mutex(shore)
    self.decide = decide
  }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    let bytes: [UInt8]
    if request.url.hasSuffix("/login") {
      bytes = Array(
        #"{"accessToken":"a","refreshToken":"r","expiresIn":300,"user":"nancy"}"#.utf8)
    } else {
      bytes = shore.withLock { shore in
        let known = Set(shore.stored.keys)
        let messages = (try? shore.respond(to: request.body)) ?? []
        for (id, operation) in shore.stored where !known.contains(id) { decide(shore, operation) }
        return messages.flatMap { $0.frame.encoded() }
      }
    }
    return TransportResponse(status: 200, headers: [:], body: WholeBody(bytes))
  }
}

/// A body that is there already.
final class WholeBody: TransportBody {
  private let bytes: Mutex<[UInt8]?>

  init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes.isEmpty ? nil : bytes) }

  func next() async throws(TransportError) -> [UInt8]? {
    bytes.withLock { bytes in
      defer { bytes = nil }
      return bytes
    }
  }

  func cancel() { bytes.withLock { $0 = nil } }
}
