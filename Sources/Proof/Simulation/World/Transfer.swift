import Ferry
import FerryServer
import FerryWire
import FerryWorld

/// One request on its way through the false network, and what comes back.
final class Transfer {
  struct Request {
    let lane: SessionMachine.Lane
    let path: String
    var body: [UInt8]
    let token: String?
    var headers: [String: String] = [:]

    init(exchange body: [UInt8], token: String) {
      lane = .exchange
      path = "exchange"
      self.body = body
      self.token = token
    }

    init(_ request: SessionRequest) {
      lane = request.lane
      path = request.path
      body = request.body
      token = request.token
      headers = request.headers
    }

    var isContent: Bool { path.hasPrefix("content/") }
  }

  let device: SimulatedDevice
  /// The device's life that made it; a later one hears nothing of it.
  let life: Int
  /// Which of the device's programs made it.
  let program: Int
  let lane: SessionMachine.Lane
  let request: Request
  /// A second copy of a request: the server sees it, nobody hears the answer.
  let isGhost: Bool
  /// Nobody of this run's devices made it.
  let isStrange: Bool
  /// No byte comes any more, and nobody is told.
  var isHalfOpen = false
  /// Another server answers it.
  var isAstray = false
  var exchange: Exchange?
  /// The server's life that answers it.
  var serverLife: Int?
  var status = 0
  var isHeadTold = false
  /// Bytes that the server has sent and the device has not got.
  private(set) var underWay: [UInt8] = []
  /// How many bytes the device has got, and after how many it has another message to be looked at.
  private var delivered = 0
  private var ends: [(place: Int, message: Message, rights: Set<Int64>)] = []
  var isServerDone = false
  /// What its user might see when the server last made something of it.
  var rights: Set<Int64> = []
  /// The agencies that its device has chosen; nil: everything that its user may see.
  var chosen: Set<Int64>?
  /// How many states each row had when its device's question arrived whether it is current; nil: it
  /// asks nothing.
  var asked: [RowName: Int]?
  /// Whom the token names.
  var user = ""
  /// What the user of the token might see when it was given.
  var tokenRights: Set<Int64> = []
  /// The server has said something since it came.
  var hasBegun = false
  /// The era of the server that answers it.
  var era = ""
  /// Who the device says it is.
  var deviceID: String?
  /// The server has nothing to say at present.
  var isWaiting = false
  /// Until this step it is under way to the server.
  var arrivesAt = 0
  /// The last checkpoint of each group that the server has sent on it.
  var checkpoints: [String: CheckpointName] = [:]
  /// Some of its frames were lost, doubled or exchanged.
  var isTampered = false
  /// What it may bring beside what changes meanwhile, and what it has brought.
  var allowance = Oracle.Cost()
  var brought = Oracle.Cost()

  init(
    device: SimulatedDevice, program: Int, request: Request, isGhost: Bool = false,
    isStrange: Bool = false
  ) {
    self.device = device
    life = device.life
    self.program = program
    lane = request.lane
    self.request = request
    self.isGhost = isGhost
    self.isStrange = isStrange
  }

  /// The server says more; `ends` tells after how many bytes the device has which message.
  func put(_ bytes: [UInt8], ends: [(place: Int, message: Message)] = []) {
    self.ends += ends.map { (delivered + underWay.count + $0.place, $0.message, rights) }
    underWay += bytes
  }

  /// Takes so many bytes to the device, cut after each message that is looked at by itself.
  func take(_ count: Int) -> [(bytes: [UInt8], message: Message?, rights: Set<Int64>)] {
    var pieces: [([UInt8], Message?, Set<Int64>)] = []
    let end = delivered + count
    while let next = ends.first, next.place <= end {
      ends.removeFirst()
      pieces.append((take(to: next.place), next.message, next.rights))
    }
    if delivered < end || pieces.isEmpty { pieces.append((take(to: end), nil, rights)) }
    return pieces
  }

  private func take(to end: Int) -> [UInt8] {
    let bytes = Array(underWay.prefix(end - delivered))
    underWay.removeFirst(end - delivered)
    delivered = end
    return bytes
  }

  /// The session that hears the answer; nil when it has ended.
  var session: Session? {
    guard !isGhost, device.life == life, device.programs.indices.contains(program) else {
      return nil
    }
    return device.programs[program].session
  }
}
