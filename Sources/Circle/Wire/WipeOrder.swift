public import FerryJSON

/// The order to a device to destroy its data, bound to one server and one copy of one device.
public struct WipeOrder: Sendable, Equatable {
  public let server: String
  public let device: String
  public let incarnation: String
  /// What the device sends once it is done; only it and the server know it.
  public let receipt: String
  /// Whether changes that were not sent may be destroyed too.
  public let withPending: Bool

  public init(
    server: String, device: String, incarnation: String, receipt: String, withPending: Bool
  ) {
    self.server = server
    self.device = device
    self.incarnation = incarnation
    self.receipt = receipt
    self.withPending = withPending
  }

  /// The member `wipe` of an answer; nil where it is none.
  public init?(_ node: JSONNode?) {
    guard let node, let server = node["server"]?.string, let device = node["device"]?.string,
      let incarnation = node["incarnation"]?.string, let receipt = node["receipt"]?.string
    else { return nil }
    self.init(
      server: server, device: device, incarnation: incarnation, receipt: receipt,
      withPending: node["withPending"]?.boolean ?? false)
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("server", server)
    writer.field("device", device)
    writer.field("incarnation", incarnation)
    writer.field("receipt", receipt)
    writer.field("withPending", withPending)
    writer.endObject()
  }
}
