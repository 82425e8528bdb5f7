/// Which submitted chains may be sealed. Pure.
///
/// A chain is known by a number. It may go when it waits for nothing; chains that wait for each other
/// in a circle go as one.
package enum SealMachine {
  package enum Verdict: Equatable, Sendable {
    /// These go now, as one.
    case ready(Set<Int64>)
    /// It waits for something that is not submitted, or that is on its way.
    case waits
    /// It waits for these, and they may go before it.
    case behind(Set<Int64>)
  }

  /// What a chain waits for, piece by piece: the first that holds it up ends the search.
  package enum Awaited: Sendable {
    /// Other chains that are submitted and wait.
    case others([Int64])
    /// Something that is not only waiting itself.
    case blocked
    case nothingMore
  }

  package static func judge<Failure>(
    _ start: Int64, awaited next: (Int64) throws(Failure) -> Awaited
  ) throws(Failure) -> Verdict {
    var seen: Set<Int64> = [start]
    var waiters: [Int64: [Int64]] = [:]
    var stack: [(chain: Int64, others: [Int64])] = [(start, [])]
    while !stack.isEmpty {
      let top = stack.count - 1
      let chain = stack[top].chain
      if let other = stack[top].others.popLast() {
        waiters[other, default: []].append(chain)
        if seen.insert(other).inserted { stack.append((other, [])) }
        continue
      }
      switch try next(chain) {
      case .others(let others): stack[top].others = others
      case .blocked: return .waits
      case .nothingMore: stack.removeLast()
      }
    }
    var circle: Set<Int64> = [start]
    var queue = [start]
    while let chain = queue.popLast() {
      for waiter in waiters[chain] ?? [] where circle.insert(waiter).inserted {
        queue.append(waiter)
      }
    }
    let others = seen.subtracting(circle)
    assert(
      circle.isSubset(of: seen) && !others.contains(start),
      "chain \(start) waits for itself without being in the circle")
    return others.isEmpty ? .ready(circle) : .behind(others)
  }
}
