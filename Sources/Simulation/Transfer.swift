import Ferry
import FerryServer

/// One request on its way through the false network, and what comes back.
final class Transfer {
  let device: Int
  /// The device's life that made it; a later one hears nothing of it.
  let deviceLife: Int
  let lane: SessionMachine.Lane
  let request: SessionRequest
  /// A second copy of a request: the server sees it, nobody hears the answer.
  let isGhost: Bool
  var exchange: Exchange?
  var serverLife = 0
  var isHeadTold = false
  /// Bytes that the server has sent and the device has not got.
  var underWay: [UInt8] = []
  var isServerDone = false

  init(device: Int, deviceLife: Int, request: SessionRequest, isGhost: Bool = false) {
    self.device = device
    self.deviceLife = deviceLife
    lane = request.lane
    self.request = request
    self.isGhost = isGhost
  }
}
