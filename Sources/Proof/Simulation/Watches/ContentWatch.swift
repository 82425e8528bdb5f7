import Ferry
import FerryMemoryConnector
import FerryModel

/// Looks at the contents of big values wherever they are.
struct ContentWatch {
  let made: MadeContents
  private var seen = 0

  init(_ made: MadeContents) { self.made = made }

  /// Invariant 2: a row of the business system that names a content has it, whole.
  mutating func check(_ business: MemoryBusiness) throws {
    let history = business.history
    guard seen < history.count else { return }
    for commit in history[seen...] {
      for effect in commit.parts.flatMap(\.effects) {
        for value in effect.after ?? [] {
          guard let reference = value.bigReference else { continue }
          guard let content = business.content(value) else {
            throw SimulationFailure(
              invariant: 2,
              problem: "\(effect.entity) \(effect.key) names a content of "
                + "\(reference.sizeBytes) bytes that the business system has not got")
          }
          guard content == made.bytes(reference) else {
            throw SimulationFailure(
              invariant: 2,
              problem: "\(effect.entity) \(effect.key) has "
                + "\(ContentWatch.shown(content)) where \(ContentWatch.shown(made.bytes(reference)))"
                + " was written")
          }
        }
      }
    }
    seen = history.count
  }

  /// Invariant 4: a content that is whole on a device is the one that was made, never a mixture.
  /// Invariant 1: what a pending change wrote is there until it is answered.
  func check(_ device: Int, _ contents: [StoredContent], _ operations: [PendingContents]) throws {
    for content in contents {
      guard let reference = content.reference, content.stored == reference.sizeBytes else {
        continue
      }
      guard content.bytes == made.bytes(reference) else {
        throw SimulationFailure(
          invariant: 4,
          problem: "device \(device) holds \(ContentWatch.shown(content.bytes)) where it "
            + "should hold \(ContentWatch.shown(made.bytes(reference)))")
      }
    }
    let whole = Set(contents.filter(\.isWhole).compactMap(\.reference))
    for operation in operations {
      for reference in operation.references where !whole.contains(reference) {
        throw SimulationFailure(
          invariant: 1,
          problem: "device \(device) has lost the content of \(operation.operation.shown)")
      }
    }
  }

  /// Invariant 9: at rest nothing is kept that nobody names, and what the business system has is
  /// here, since everybody has asked for it.
  func checkRest(_ device: SimulatedDevice) throws {
    let named = try device.namedContents()
    for content in try device.contents() {
      let problem: String
      if let reference = content.reference {
        if named.contains(reference) { continue }
        problem = "that nothing names"
      } else {
        problem = "that nobody goes on writing"
      }
      throw SimulationFailure(
        invariant: 9,
        problem: "device \(device.number) keeps a content of \(content.stored) bytes "
          + "\(problem): \(ContentWatch.shown(content.bytes))")
    }
    if let place = try device.missingContents(isSettled: true).first {
      throw SimulationFailure(
        invariant: 9,
        problem: "device \(device.number) cannot have the content of \(place.entity.name) object "
          + "\(place.object)")
    }
    let left = try device.uploadsLeft()
    guard left == 0 else {
      throw SimulationFailure(
        invariant: 9, problem: "device \(device.number) has \(left) contents to send at rest")
    }
  }

  static func shown(_ bytes: [UInt8]?) -> String {
    guard let bytes else { return "nothing" }
    return "\(bytes.count) bytes \"\(String(decoding: bytes.prefix(40), as: UTF8.self))\""
  }
}

/// The contents that a pending change has written.
struct PendingContents {
  let operation: PendingOperation
  let references: [BigReference]
}

/// A content as a device's database has it.
struct StoredContent {
  let reference: BigReference?
  let stored: Int64
  let bytes: [UInt8]

  var isWhole: Bool { reference?.sizeBytes == stored }
}
