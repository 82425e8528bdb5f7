import FerryConnector
import FerryODataConnector
import FerryWorld

extension ServiceSettings {
  /// A connection to the service at this address; nothing is asked yet.
  func odata(_ address: String) throws(ConnectionsError) -> ODataConnection {
    let transport = try transport()
    let world = World.system()
    return ODataConnection(
      address, world: world, credentials: try source(world, transport: transport),
      sendsAsUser: users != nil, transport: transport, deadlines: deadlines,
      late: late ?? .seconds(120),
      requests: requests)
  }
}
