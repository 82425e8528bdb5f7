import FerryModel
import FerryWire
import FerryWorld

/// What a planted bug does to the bytes of a request before they leave the device.
enum FlawedWire {
  static func spoiled(_ body: [UInt8], _ flaws: Set<PlantedBug>) -> [UInt8] {
    if flaws.contains(.setForgotten) { return withoutLastSet(body) }
    guard flaws.contains(.lostAttribute), let frames = try? FrameReader.frames(of: body) else {
      return body
    }
    return frames.flatMap { frame -> [UInt8] in
      guard case .replay(let replay)? = try? Message(frame) else { return frame.encoded() }
      let operations = replay.operations.map(withoutLastValue)
      return Message.replay(Replay(operations: operations, mayHaveRun: replay.mayHaveRun)).frame
        .encoded()
    }
  }

  private static func withoutLastSet(_ body: [UInt8]) -> [UInt8] {
    guard let frames = try? FrameReader.frames(of: body) else { return body }
    return frames.flatMap { frame -> [UInt8] in
      guard case .hello(var hello)? = try? Message(frame), hello.parameters.sets.count > 1 else {
        return frame.encoded()
      }
      hello.parameters.sets.removeLast()
      return Message.hello(hello).frame.encoded()
    }
  }

  /// Returns an update of several values without its last value, and other operations unchanged.
  private static func withoutLastValue(_ bytes: [UInt8]) -> [UInt8] {
    let package = SimulatedBusiness.package
    guard let operation = try? Operation(bytes, in: package), operation.kind == .update,
      operation.changed.count > 1, let last = operation.changed.keys.max(),
      let entity = package.entity(named: operation.entity)
    else { return bytes }
    return Operation(
      id: operation.id, chain: operation.chain, position: operation.position,
      count: operation.count, entity: operation.entity, kind: operation.kind, key: operation.key,
      changed: operation.changed.filter { $0.key != last }, base: operation.base
    ).encoded(for: entity)
  }
}
