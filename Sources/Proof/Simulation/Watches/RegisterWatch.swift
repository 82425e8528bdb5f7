import Ferry
import FerryServer
import FerryWire

/// What an operator has decided about devices, by a record of the simulation's own.
struct RegisterWatch {
  /// Locked devices, and the step at which the operator unlocks them.
  private(set) var locked: [Owner: Int] = [:]
  /// Devices that have the order to destroy their data.
  private(set) var ordered: Set<Owner> = []
  /// Devices that have destroyed their data.
  private(set) var destroyed: Set<Owner> = []
  /// Receipts that no server has yet.
  var owed: [(wipe: Wipe, owner: Owner)] = []
  /// Devices whose receipt a server has taken.
  private var receipts: Set<Owner> = []

  var hasOrders: Bool { !ordered.subtracting(destroyed).isEmpty }
  var isEmpty: Bool { locked.isEmpty && ordered.isEmpty }

  mutating func lock(_ owner: Owner, until step: Int) { locked[owner] = step }
  mutating func unlock(_ owner: Owner) { locked[owner] = nil }
  mutating func order(_ owner: Owner) { ordered.insert(owner) }
  mutating func take(back owner: Owner) { ordered.remove(owner) }
  mutating func destroy(_ wipe: Wipe, _ owner: Owner) {
    destroyed.insert(owner)
    owed.append((wipe, owner))
  }
  mutating func give(_ owner: Owner) { receipts.insert(owner) }

  /// The server goes on from a backup, which may lack what was decided since.
  mutating func forget() {
    locked = [:]
    ordered = []
    receipts = []
  }

  /// Invariant 11: whoever is locked out is not let in.
  func problem(whereLetIn owner: Owner) -> String? {
    guard locked[owner] != nil || ordered.contains(owner) else { return nil }
    return "\(owner.device.text) is let in, though its operator has locked it"
  }

  /// Invariant 11: what counts as wiped has destroyed its data.
  func check(_ devices: [RegisteredDevice]) throws {
    for device in devices where device.state == .wiped && !destroyed.contains(device.owner) {
      throw SimulationFailure(
        invariant: 11,
        problem: "\(device.device) counts as wiped, and has not destroyed its data")
    }
  }

  /// At rest, what has destroyed its data counts as wiped.
  func checkRest(_ devices: [RegisteredDevice]) throws {
    for device in devices where receipts.contains(device.owner) && device.state != .wiped {
      throw SimulationFailure(
        invariant: 11,
        problem: "\(device.device) has sent the receipt of its wipe, and is \(device.state)")
    }
  }
}
