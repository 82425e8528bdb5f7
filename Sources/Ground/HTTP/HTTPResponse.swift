/// What a handler answers.
public struct HTTPResponse: Sendable {
  public var status: Int
  /// Passed on as they are, but for `Transfer-Encoding`, which the server knows better, and
  /// `Content-Length`, which counts for a stream only.
  public var headers: HTTPHeaders
  public var body: HTTPBody

  public init(status: Int, headers: HTTPHeaders = [:], body: HTTPBody = .bytes([])) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// A sentence for people, with its length and type.
  public static func text(_ status: Int, _ text: String) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: ["Content-Type": "text/plain; charset=utf-8"],
      body: .bytes(Array(text.utf8)))
  }
}

/// What follows the headers of a response.
public enum HTTPBody: Sendable {
  /// Known as a whole; sent with its length.
  case bytes([UInt8])
  /// Made while it is sent, for as long as it takes. The header `Content-Length` gives its length,
  /// where it is known; a source that ends before is cut off.
  case stream(any HTTPBodySource)
}

/// Makes the body of a response piece by piece.
///
/// The server asks for a piece when the connection can take more, one at a time, and sends it
/// before it asks again: nothing is collected on the way, and a slow reader slows its source.
/// The source is released when the response is over, however it ends.
public protocol HTTPBodySource: Sendable {
  /// The next piece. May wait as long as it likes.
  ///
  /// Its task is cancelled when the client has gone (within a second) or the server stops; what
  /// is returned then is sent if it still can be. A source that waits must notice cancellation.
  func next() async -> HTTPBodyPiece
}

/// What a source has to give.
public enum HTTPBodyPiece: Sendable {
  /// More of the body. An empty piece only asks to be called again.
  case bytes([UInt8])
  /// The body is complete.
  case end
  /// The body cannot be completed: the connection is cut, so that the client sees it is not whole.
  case abort
}
