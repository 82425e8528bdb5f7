import Ferry
import FerryServer
import FerryWorld

/// One request on its way through the false network, and what comes back.
final class Transfer {
  let device: SimulatedDevice
  /// The device's life that made it; a later one hears nothing of it.
  let life: Int
  /// Which of the device's programs made it.
  let program: Int
  let lane: SessionMachine.Lane
  let request: SessionRequest
  /// A second copy of a request: the server sees it, nobody hears the answer.
  let isGhost: Bool
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
  var underWay: [UInt8] = []
  var isServerDone = false
  var rights: Set<Int64> = []
  /// The era of the server that answers it.
  var era = ""
  /// Who the device says it is.
  var deviceID: String?
  /// The server has nothing to say at present.
  var isWaiting = false
  /// Until this step it is under way to the server.
  var arrivesAt = 0
  /// The last checkpoint that the server has sent on it.
  var checkpoint: CheckpointName?
  /// Some of its frames were lost, doubled or exchanged.
  var isTampered = false
  /// How many rows and leaves it may bring, and how many it has brought.
  var allowance = 0
  var rows = 0

  init(
    device: SimulatedDevice, program: Int, request: SessionRequest, isGhost: Bool = false
  ) {
    self.device = device
    life = device.life
    self.program = program
    lane = request.lane
    self.request = request
    self.isGhost = isGhost
  }

  /// The session that hears the answer; nil when it has ended.
  var session: Session? {
    guard !isGhost, device.life == life, device.programs.indices.contains(program) else {
      return nil
    }
    return device.programs[program].session
  }
}
