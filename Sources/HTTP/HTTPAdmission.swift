/// What a server does with a request of which it has the head only.
public enum HTTPAdmission: Sendable {
  /// The body is read, up to this many bytes and the limit of the server; more is answered 413.
  case take(bodyBytes: Int)
  /// This is the answer. No byte of the body is kept, and the handler is not called.
  case refuse(HTTPResponse)
}
