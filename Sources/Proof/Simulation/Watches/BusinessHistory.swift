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
    let before: [AttributeValue]?
    let after: [AttributeValue]?
    /// Of the order, or of the line's order, in that transaction: before and after.
    let agencies: Set<Int64>
    /// Of an order that it made.
    let reference: String?
    let hasTemporaryKey: Bool
  }

  private var bodies: [RowName: [[UInt8]?]] = [:]
  private var taken = 0
  /// In which agency each order is.
  private var agencies: [ObjectKey: Int64] = [:]
  /// The lines that are there: order and number.
  private var lines: Set<ObjectKey> = []
  private(set) var effects: [Effect] = []
  /// The operations that had an effect, or were taken without one, and how often.
  private(set) var performed: [OperationID: Int] = [:]
  /// The last commit of each operation that was performed.
  private(set) var commits: [OperationID: Int] = [:]

  mutating func take(_ history: [MemoryCommit]) {
    guard taken < history.count else { return }
    for commit in history[taken...] {
      var after: [RowName: [AttributeValue]?] = [:]
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
          let agencies = agencies(of: effect)
          guard let operation = part.operation else { continue }
          effects.append(
            Effect(
              operation: operation, name: name, commit: commit.number, before: effect.before,
              after: effect.after, agencies: agencies,
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

  /// How many states each row has had so far, of those that ever changed.
  var states: [RowName: Int] { bodies.mapValues(\.count) }

  /// The first place from `start` on where the row was so; nil where it was not.
  func place(of name: RowName, body: [UInt8]?, from start: Int) -> Int? {
    guard let states = bodies[name], start < states.count else { return nil }
    return states[start...].firstIndex { $0 == body }
  }

  private mutating func agencies(of effect: MemoryEffect) -> Set<Int64> {
    switch effect.entity {
    case "Order":
      agencies[effect.key] = effect.after.flatMap(EffectWatch.agency)
      return Set([effect.before, effect.after].compactMap { $0.flatMap(EffectWatch.agency) })
    case "Line":
      if effect.after == nil { lines.remove(effect.key) } else { lines.insert(effect.key) }
      // A line of no order is nobody's.
      return [(effect.after ?? effect.before).flatMap { agencies[ObjectKey([$0[0]])] } ?? 0]
    case "Tag":
      // A tag of no line is nobody's.
      return Set(
        [effect.before, effect.after].compactMap { $0 }.map { tag in
          lines.contains(ObjectKey([tag[1], tag[2]])) ? agencies[ObjectKey([tag[1]])] ?? 0 : 0
        })
    default: return []
    }
  }

  private static func reference(_ effect: MemoryEffect) -> String? {
    guard effect.entity == "Order", effect.before == nil, case .text(let text)? = effect.after?[4]
    else { return nil }
    return text
  }

  private static func hasTemporaryKey(_ effect: MemoryEffect) -> Bool {
    (effect.after ?? []).contains { value in
      if case .integer(let number) = value { number < 0 } else { false }
    }
  }
}
