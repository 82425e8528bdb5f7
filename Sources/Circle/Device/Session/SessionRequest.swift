import FerryHTTP
import FerryJSON
import FerryModel
import FerryWire

/// A request that the session wants to be made; the answer comes back in pieces.
package struct SessionRequest: Sendable, Equatable {
  package let lane: SessionMachine.Lane
  /// Below the server's address.
  package let path: String
  package private(set) var body: [UInt8]
  /// For the Authorization header.
  package let token: String?
  package var method: HTTPMethod = .post
  /// What a token of an issuer is wanted for, which goes into the body.
  package var tokenUse: TokenUse?
  /// Beside those of every request.
  package var headers: [String: String] = [:]
  /// Of the plan under way: the app is asked before it leaves.
  package var isOfPlan: Bool = false
  /// It shows the app nothing: no rows are asked for.
  package var isQuiet: Bool = false

  package init(lane: SessionMachine.Lane, path: String, body: [UInt8], token: String?) {
    self.lane = lane
    self.path = path
    self.body = body
    self.token = token
  }

  /// Puts the token of an issuer into the body, which is an object with members.
  mutating func add(issuerToken: String) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("token", issuerToken)
    writer.endObject()
    body = writer.bytes.dropLast() + [UInt8(ascii: ",")] + body.dropFirst()
  }
}

/// The answer to a request, as far as it has come.
struct Reception {
  /// Fewer bytes than this are a sign of life only as a whole frame: after a broken length the
  /// server's beats would otherwise keep a line alive on which nothing will ever be whole again.
  static let signOfLifeBytes: Int = 4_096

  enum Kind { case login, token, exchange, channel, upload }

  let kind: Kind
  /// How many confirms the request carried that no welcome has acknowledged.
  var confirms: Int
  /// Personalization keys that the request carried to the server.
  let changedKeys: [String: String?]
  /// Where the device stood when it asked: what a welcome judges.
  let place: DevicePosition?
  /// What a piece was sent of.
  let upload: Upload?
  /// The era of the server that answers, from its welcome on; of a piece, the last one that was known
  /// when it was sent.
  var era: String?
  var status = 0
  var reader = FrameReader()
  /// What came of a group does not fit the model; the other groups are imported all the same.
  var unfit: FerryError?
  /// A message that is taken when the app has answered.
  var asked: Frame?
  /// The server may hold its answer until operations are answered.
  var mayHold = false
  /// Messages of the request that the server answers with `stored`, and how many it has.
  var toStore = 0
  var stored = 0
  /// Receipts of corrections that the request carried.
  var receipts: [OperationID] = []
  /// The server does not have all of a group yet.
  var isServerLoading = false
  var serverLoad: ServerLoad?
  /// Bytes that came since the last whole frame, or since they were enough to be a sign of life.
  var restBytes = 0
  /// What is no row of frames: answers to logins, and errors.
  var text: [UInt8] = []

  init(
    _ kind: Kind, confirms: Int = 0, changedKeys: [String: String?] = [:],
    place: DevicePosition? = nil, upload: Upload? = nil
  ) {
    self.kind = kind
    self.confirms = confirms
    self.changedKeys = changedKeys
    self.place = place
    self.upload = upload
  }
}

/// Who logs in; kept in memory only, until the server has answered.
package struct Credentials: Sendable, Equatable {
  package let user: String?
  package let password: String?
  /// An activation code in place of a password; the database keeps it until the server has answered.
  let code: String?

  package init(user: String, password: String) {
    self.user = user
    self.password = password
    code = nil
  }

  init(user: String, code: String) {
    self.user = user
    self.code = code
    password = nil
  }

  private init() { (user, password, code) = (nil, nil, nil) }

  /// A token of an issuer, which the profile's source gives.
  package static let token = Credentials()
}
