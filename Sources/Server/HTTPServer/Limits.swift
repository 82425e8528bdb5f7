/// What one server takes on before it says no; each with its reason.
package struct HTTPServerLimits: Sendable {
  /// Request line and header fields of one request; more is answered 431.
  ///
  /// 8 KB is what nginx takes by default: a token of 2 KB and a proxy's additions fit well.
  package var headBytes = 8 * 1024

  /// Body of one request; more is answered 413, before it is read where its length is announced.
  ///
  /// A message of a device is at most 4 MB; the double leaves room for what wraps it.
  package var bodyBytes = 8 * 1024 * 1024

  /// Bodies of all requests that are being read or answered; more is answered 503.
  ///
  /// Without it, `connections` bodies of `bodyBytes` each would be held at once.
  package var bodyBytesInAll = 256 * 1024 * 1024

  /// What of it one user may take, and one address; more is answered 429. Nil: an eighth and a
  /// quarter, but one body at least. Behind one address many users may be.
  package var bodyBytesPerUser: Int?
  package var bodyBytesPerAddress: Int?

  /// What of it is kept free for logins. Nil: a sixteenth, as long as one body fits beside it.
  package var bodyBytesForLogins: Int?

  /// Connections at a time; further ones wait in the system's queue.
  ///
  /// Each costs a socket and about `poolBytes`; an open stream 5 KB more.
  package var connections = 2048

  /// Connections of one address, and requests under way of one client's address or one user; a
  /// further one is answered 429 and closed. Nil: a quarter, but 64 at least. The connections of a
  /// trusted proxy have no bound of their own.
  package var connectionsPerAddress: Int?
  package var connectionsPerUser: Int?

  /// Places for logins: where no more are free, another request is answered 503, and an idle
  /// connection is closed for each one that opens. Nil: a sixteenth.
  package var connectionsForLogins: Int?

  /// Working memory of one connection: the head, the parsed fields, the head of the answer and
  /// what of the body is on its way to the socket.
  package var poolBytes = 16 * 1024

  /// From the opening of the connection, or the end of the last answer, to the end of the head.
  ///
  /// Absolute: a client that drips bytes does not gain time.
  package var headTime = Duration.seconds(15)

  /// From the end of the head to the end of the body, beside what the bytes that have come may take
  /// at `bodyBytesPerSecond`: a client that drips gains nothing.
  package var bodyTime = Duration.seconds(60)

  /// The slowest upload that is waited for: a phone at the edge of its network.
  package var bodyBytesPerSecond = 8 * 1024

  /// How long a client may take nothing of an answer that is ready for it.
  package var writeTime = Duration.seconds(60)

  /// How long a refused upload is read and thrown away, so that the refusal is not lost: closing
  /// a socket with unread input makes the system discard what we sent.
  package var lingerTime = Duration.seconds(2)

  /// Refused uploads that are read on at a time; beyond it they are cut at once. One address has a
  /// quarter of them, but one at least.
  package var lingering = 64

  package init() {}

  var bodyBounds: Shares.Bounds {
    let reserve = bodyBytesForLogins ?? min(bodyBytesInAll / 16, bodyBytesInAll - bodyBytes)
    return Shares.Bounds(
      inAll: bodyBytesInAll, besideLogins: bodyBytesInAll - reserve,
      perUser: bodyBytesPerUser ?? max(bodyBytes, bodyBytesInAll / 8),
      perAddress: bodyBytesPerAddress ?? max(bodyBytes, bodyBytesInAll / 4))
  }

  /// Of requests under way. The places for logins are kept free of connections, too.
  var requestBounds: Shares.Bounds {
    let quarter = min(connections, max(64, connections / 4))
    return Shares.Bounds(
      inAll: connections, besideLogins: connections - (connectionsForLogins ?? connections / 16),
      perUser: connectionsPerUser ?? quarter, perAddress: connectionsPerAddress ?? quarter)
  }

  var lingeringPerAddress: Int { max(1, lingering / 4) }

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
    let (bodies, requests) = (bodyBounds, requestBounds)
    precondition(
      min(bodies.perUser, bodies.perAddress, bodies.besideLogins) >= bodyBytes,
      "a share of \(bodies) is less than one body of \(bodyBytes)")
    precondition(
      min(requests.perUser, requests.perAddress, requests.besideLogins) > 0,
      "a share of \(requests) is less than one request")
    precondition(
      headTime > .zero && bodyTime > .zero && writeTime > .zero && lingerTime >= .zero,
      "a deadline of zero would refuse every request")
    precondition(bodyBytesPerSecond > 0, "no upload would be fast enough to be waited for")
    precondition(lingerTime <= bodyTime, "a refused body is read longer than a good one")
  }
}
