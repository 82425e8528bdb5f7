import Dispatch
import FerryModel
import FerryWorld
import Synchronization

/// Which of several chains must wait for which. Pure.
///
/// Chains of one object keep their order, and so do a chain and another one that refers to what the
/// first is about: a later chain may need what an earlier one has made.
public struct ChainOrder: Sendable, Equatable {
  /// Of each chain, in their order: the places of earlier ones that must have ended.
  public let after: [Set<Int>]

  private struct Name: Hashable {
    let entity: String
    let key: ObjectKey
  }

  public init(_ chains: [[ConnectorOperation]]) {
    var last: [Name: Int] = [:]
    after = chains.indices.map { place in
      let names = Set(chains[place].flatMap { ChainOrder.names($0) })
      let earlier = Set(names.compactMap { last[$0] })
      for name in names { last[name] = place }
      return earlier
    }
  }

  private static func names(_ operation: ConnectorOperation) -> [Name] {
    let entity = operation.entity
    var names: [Name] = []
    if let key = operation.key ?? operation.temporaryKey {
      names.append(Name(entity: entity.name, key: key))
    }
    for relationship in entity.relationships {
      for values in [operation.changed, operation.base] {
        let key = relationship.attributes.compactMap { name in
          entity.position(of: name).flatMap { values[$0] }
        }
        guard key.count == relationship.attributes.count, !key.contains(.null) else { continue }
        names.append(Name(entity: relationship.target, key: ObjectKey(key)))
      }
    }
    return names
  }
}

/// Performs chains side by side at a business system that is reached by requests. Whoever calls it waits
/// once for all of them. It belongs to one thread.
public final class SideBySide {
  private let count: Int
  private var workers: [ThreadExecutor] = []

  /// At most so many chains are under way at a time.
  public init(_ count: Int) { self.count = max(1, count) }

  private final class Ends: Sendable {
    private let known = Mutex<[(place: Int, worker: Int, result: PerformResult)]>([])
    private let signal = DispatchSemaphore(value: 0)

    func put(_ place: Int, _ worker: Int, _ result: PerformResult) {
      known.withLock { $0.append((place, worker, result)) }
      signal.signal()
    }

    func take() -> (place: Int, worker: Int, result: PerformResult)? {
      signal.wait()
      return known.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
  }

  /// What became of the chains in their order: of the first at least, of others as long as `goesOn`,
  /// which is asked between two. `body` performs one, on any thread.
  public func perform(
    _ chains: [[ConnectorOperation]], while goesOn: () -> Bool,
    _ body: @escaping @Sendable ([ConnectorOperation]) -> PerformResult
  ) -> [PerformResult] {
    guard chains.count > 1, count > 1 else {
      var results: [PerformResult] = []
      for chain in chains where results.isEmpty || goesOn() { results.append(body(chain)) }
      return results
    }
    let order = ChainOrder(chains)
    var free = Array((0..<min(count, chains.count)).reversed())
    while workers.count < free.count { workers.append(ThreadExecutor(name: "ferry-requests")) }
    let ends = Ends()
    var results = [PerformResult?](repeating: nil, count: chains.count)
    var open = Array(chains.indices)
    var running = 0
    // Behind it nothing more is begun; what lies before it is ended.
    var limit = chains.count
    var isEnding = false
    var furthest = 0
    while true {
      while let worker = free.last,
        let index = open.firstIndex(where: { place in
          place < limit && order.after[place].allSatisfy { results[$0] != nil }
        })
      {
        if !isEnding, open.count < chains.count, !goesOn() {
          isEnding = true
          limit = furthest + 1
          continue
        }
        let place = open.remove(at: index)
        furthest = max(furthest, place)
        free.removeLast()
        running += 1
        workers[worker].perform { ends.put(place, worker, body(chains[place])) }
      }
      guard running > 0, let end = ends.take() else { break }
      results[end.place] = end.result
      free.append(end.worker)
      running -= 1
    }
    return results.prefix(limit).compactMap { $0 }
  }
}
