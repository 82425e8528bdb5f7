import FerryWire

/// Requests as a stranger's client would write them, message by message.
enum Letters {
  static func hello(
    _ business: Business, device: String, protocol version: Int64 = Hello.currentProtocol,
    package: String? = nil
  ) -> Hello {
    var hello = Hello(
      server: nil, package: package ?? business.package.id, device: device,
      incarnation: "\(device)-1", groups: [], partitions: [], open: [])
    hello.protocol = version
    return hello
  }

  static func pulls(_ business: Business) -> [UInt8] {
    business.package.groups.flatMap { group in
      Message.pull(Pull(group: group.name, staged: [], at: 0)).frame.encoded()
    }
  }

  /// Everything, from the start.
  static func first(_ business: Business, device: String) -> [UInt8] {
    Message.hello(hello(business, device: device)).frame.encoded() + pulls(business)
  }

  /// The refusal in an answer; nil where the exchange went on.
  static func failure(_ reply: Wires.Reply) throws -> WireFailure? {
    for frame in try FrameReader.frames(of: reply.bytes) {
      if case .failure(let failure) = try Message(frame) { return failure }
    }
    return nil
  }
}
