/// What one server takes on before it says no; each with its reason.
public struct HTTPServerLimits: Sendable {
  /// Request line and header fields of one request; more is answered 431.
  ///
  /// 8 KB is what nginx takes by default: a token of 2 KB and a proxy's additions fit well.
  public var headBytes = 8 * 1024

  /// Body of one request; more is answered 413, before it is read where its length is announced.
  ///
  /// A message of a device is at most 4 MB; the double leaves room for what wraps it.
  public var bodyBytes = 8 * 1024 * 1024

  /// Bodies of all requests that are being read or answered; more is answered 503.
  ///
  /// Without it, `connections` bodies of `bodyBytes` each would be held at once.
  public var bodyBytesInAll = 256 * 1024 * 1024

  /// Connections at a time; further ones wait in the system's queue.
  ///
  /// Each costs a socket and about `poolBytes`; an open stream 5 KB more.
  public var connections = 2048

  /// Working memory of one connection: the head, the parsed fields, the head of the answer and
  /// what of the body is on its way to the socket.
  public var poolBytes = 16 * 1024

  /// From the opening of the connection, or the end of the last answer, to the end of the head.
  ///
  /// Absolute: a client that drips bytes does not gain time.
  public var headTime = Duration.seconds(15)

  /// From the end of the head to the end of the body, beside what the bytes that have come may take
  /// at `bodyBytesPerSecond`: a client that drips gains nothing.
  public var bodyTime = Duration.seconds(60)

  /// The slowest upload that is waited for: a phone at the edge of its network.
  public var bodyBytesPerSecond = 8 * 1024

  /// How long a client may take nothing of an answer that is ready for it.
  public var writeTime = Duration.seconds(60)

  /// How long a refused upload is read and thrown away, so that the refusal is not lost: closing
  /// a socket with unread input makes the system discard what we sent.
  public var lingerTime = Duration.seconds(2)

  /// Refused uploads that are read on at a time; beyond it they are cut at once.
  public var lingering = 64

  public init() {}

  /// The relations without which the server would refuse or hold what it must not.
  func check() {
    precondition(headBytes >= 1024, "headBytes \(headBytes): no browser's head fits in 1 KB")
    precondition(
      poolBytes >= 2 * headBytes,
      "poolBytes \(poolBytes) must be twice headBytes \(headBytes): parsed fields stand beside them"
    )
    precondition(
      bodyBytesInAll >= bodyBytes,
      "bodyBytesInAll \(bodyBytesInAll) is less than one body of \(bodyBytes)")
    precondition(connections > 0 && lingering >= 0, "connections \(connections)")
    precondition(
      headTime > .zero && bodyTime > .zero && writeTime > .zero && lingerTime >= .zero,
      "a deadline of zero would refuse every request")
    precondition(bodyBytesPerSecond > 0, "no upload would be fast enough to be waited for")
    precondition(lingerTime <= bodyTime, "a refused body is read longer than a good one")
  }
}
