import FerryConnector
import FerryMemoryConnector
import FerryModel

/// All that the business system ever was, row by row, and what operations did to it.
struct BusinessHistory {
  /// An effect that an operation had.
  struct Effect {
    let operation: OperationID
    let name: RowName
    let commit: Int
    let before: [Value]?
    let after: [Value]?
    /// Of an order that it made.
    let reference: String?
    let hasTemporaryKey: Bool
  }

  private var bodies: [RowName: [[UInt8]?]] = [:]
  private var taken = 0
  private(set) var effects: [Effect] = []
  /// The operations that had an effect, or were taken without one, and how often.
  private(set) var performed: [OperationID: Int] = [:]
  /// The last commit of each operation that was performed.
  private(set) var commits: [OperationID: Int] = [:]

  mutating func take(_ history: [MemoryCommit]) {
    guard taken < history.count else { return }
    for commit in history[taken...] {
      var after: [RowName: [Value]?] = [:]
      for part in commit.parts {
        if let operation = part.operation {
          performed[operation, default: 0] += 1
          commits[operation] = commit.number
        }
        for effect in part.effects {
          let name = RowName(entity: effect.entity, key: effect.key)
          if bodies[name] == nil, after[name] == nil {
            bodies[name] = [effect.before.map { RowCoder.encode($0) }]
          }
          after[name] = .some(effect.after)
          guard let operation = part.operation else { continue }
          effects.append(
            Effect(
              operation: operation, name: name, commit: commit.number, before: effect.before,
              after: effect.after,
              reference: BusinessHistory.reference(effect),
              hasTemporaryKey: BusinessHistory.hasTemporaryKey(effect)))
        }
      }
      for (name, values) in after {
        bodies[name, default: []].append(values.map { RowCoder.encode($0) })
      }
    }
    taken = history.count
  }

  /// The first place from `start` on where the row was so; nil where it was not.
  func place(of name: RowName, body: [UInt8]?, from start: Int) -> Int? {
    guard let states = bodies[name], start < states.count else { return nil }
    return states[start...].firstIndex { $0 == body }
  }

  /// All that an order was ever in.
  func agencies(ofOrder name: RowName) -> Set<Int64> {
    Set(
      (bodies[name] ?? []).compactMap { body in
        body.flatMap { EffectWatch.agency(Oracle.values($0, SimulatedBusiness.order)) }
      })
  }

  private static func reference(_ effect: MemoryEffect) -> String? {
    guard effect.entity == "Order", effect.before == nil, case .text(let text)? = effect.after?[4]
    else { return nil }
    return text
  }

  private static func hasTemporaryKey(_ effect: MemoryEffect) -> Bool {
    guard effect.entity != "Customer", case .integer(let number)? = effect.after?.first else {
      return false
    }
    return number < 0
  }
}
