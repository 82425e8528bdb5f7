import Ferry
import FerryWorld

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a walk has met.
package struct WalkCounts: Sendable {
  /// Different states, the first ones included.
  package fileprivate(set) var states = 0
  /// Deeds that were done; many lead to a state that was met before.
  package fileprivate(set) var transitions = 0
  /// By the word of the deed.
  package fileprivate(set) var deeds: [String: Int] = [:]
  /// How many deeds lead to the states that are gone on from now, and how many of them there are.
  package fileprivate(set) var depth = 0
  package fileprivate(set) var open = 0

  package init() {}

  /// Both together.
  package mutating func add(_ other: WalkCounts) {
    states += other.states
    transitions += other.transitions
    deeds.merge(other.deeds, uniquingKeysWith: +)
    depth = max(depth, other.depth)
  }
}

/// A violated invariant, with the fewest deeds that lead to it.
package struct WalkFailure: Sendable {
  package let kind: WalkKind
  package let invariant: Int
  package let problem: String
  /// In words, from the start.
  package let deeds: [String]
  /// How many of them, at the end, only lead to rest.
  package let quietDeeds: Int
}

/// An exhaustive walk of a small world: every list of deeds up to a length, over the machines of
/// client and server.
///
/// Breadth first. A state is gone on from once, with the fewest deeds that lead to it.
package struct Walk {
  private struct Found: Sendable {
    let world: WalkWorld
    let hash: UInt64
    let parent: UInt32
    let deed: WalkDeed
  }

  private struct Part: Sendable {
    var found: [Found] = []
    var transitions = 0
    var deeds: [Int] = Array(repeating: 0, count: WalkDeed.Kind.allCases.count)
    var failures: [(parent: UInt32, failed: WalkFailed)] = []
  }

  private let model: WalkModel
  private var seen = WalkSet()
  private var counts = WalkCounts()
  private var parents: [(parent: UInt32, deed: WalkDeed)] = []
  private var failures: [WalkFailure] = []
  private let limit: Int
  private static let chunk = 256

  /// Walks one small world, up to so many deeds. Gives what was met, and what failed, until there
  /// are `failures` different problems; each has the fewest deeds.
  package static func run(
    _ kind: WalkKind, deeds: Int, planted: Set<PlantedBug> = [], failures limit: Int = 1,
    progress: (WalkCounts) -> Void = { _ in }
  ) async -> (counts: WalkCounts, failures: [WalkFailure]) {
    var walk = Walk(kind, planted, limit)
    await walk.run(deeds: deeds, progress)
    return (walk.counts, walk.failures)
  }

  /// The planted bugs that a walk can be made with.
  package static let plants: [PlantedBug] = [
    .forgottenOriginal, .baseNotMoved, .idAtSubmit, .retryUnknown, .referenceAhead,
  ]

  private init(_ kind: WalkKind, _ planted: Set<PlantedBug>, _ limit: Int) {
    model = WalkModel(kind, planted: planted)
    self.limit = limit
  }

  private var isOver: Bool { failures.count >= limit }

  /// Problems that differ in their numbers alone are one.
  private mutating func note(_ number: UInt32, _ failed: WalkFailed, quiet: Int) {
    let isKnown = failures.contains {
      $0.invariant == failed.problem.invariant
        && Walk.words($0.problem) == Walk.words(failed.problem.problem)
    }
    guard !isKnown, !isOver else { return }
    failures.append(describe(number, failed, quiet: quiet))
  }

  private static func words(_ problem: String) -> String {
    problem.filter { !$0.isNumber && $0 != "-" }
  }

  private mutating func run(deeds: Int, _ progress: (WalkCounts) -> Void) async {
    var start = model.kind.start
    start.canonicalize()
    var bytes: [UInt8] = []
    start.encode(into: &bytes)
    _ = seen.insert(WalkSet.hash(bytes))
    parents.append((0, WalkDeed(kind: .receive)))
    counts.states = 1
    var level: [(world: WalkWorld, number: UInt32)] = [(start, 0)]
    for depth in 0..<deeds where !level.isEmpty && !isOver {
      (counts.depth, counts.open) = (depth, level.count)
      var next: [(world: WalkWorld, number: UInt32)] = []
      // A copy of the device's file costs no deed: it is gone on from at the same depth.
      while !level.isEmpty, !isOver {
        var copied: [(world: WalkWorld, number: UInt32)] = []
        await expand(level, isLast: depth + 1 == deeds, &next, &copied, progress)
        level = copied
      }
      level = next
    }
    counts.depth = deeds
    progress(counts)
  }

  private mutating func expand(
    _ level: [(world: WalkWorld, number: UInt32)], isLast: Bool,
    _ next: inout [(world: WalkWorld, number: UInt32)],
    _ copied: inout [(world: WalkWorld, number: UInt32)], _ progress: (WalkCounts) -> Void
  ) async {
    let cores = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    var place = 0
    while place < level.count, !isOver {
      let end = min(level.count, place + Walk.chunk * cores * 4)
      let pieces = stride(from: place, to: end, by: Walk.chunk).map { from in
        Array(level[from..<min(end, from + Walk.chunk)])
      }
      place = end
      let model = model
      var new: [(world: WalkWorld, number: UInt32)] = []
      for part in await parallel(pieces, { Walk.expand($0, model) }) {
        counts.transitions += part.transitions
        for kind in WalkDeed.Kind.allCases where part.deeds[Int(kind.rawValue)] > 0 {
          counts.deeds[WalkDeed(kind: kind).word, default: 0] += part.deeds[Int(kind.rawValue)]
        }
        for failed in part.failures { note(failed.parent, failed.failed, quiet: 0) }
        for found in part.found where seen.insert(found.hash) {
          let number = UInt32(parents.count)
          parents.append((found.parent, found.deed))
          new.append((found.world, number))
          if found.deed.kind == .keep {
            copied.append((found.world, number))
          } else if !isLast {
            next.append((found.world, number))
          }
        }
      }
      counts.states = seen.count
      guard !isOver else { return }
      let rest = stride(from: 0, to: new.count, by: Walk.chunk * 4).map { from in
        Array(new[from..<min(new.count, from + Walk.chunk * 4)])
      }
      for failed in await parallel(rest, { Walk.settle($0, model) }).joined() {
        note(failed.number, failed.failed, quiet: failed.failed.deeds.count)
      }
      progress(counts)
    }
  }

  private func parallel<Piece: Sendable, Result: Sendable>(
    _ pieces: [Piece], _ body: @escaping @Sendable (Piece) -> Result
  ) async -> [Result] {
    await withTaskGroup(of: (Int, Result).self) { group in
      for (place, piece) in pieces.enumerated() {
        group.addTask { (place, body(piece)) }
      }
      var results: [(Int, Result)] = []
      for await result in group { results.append(result) }
      return results.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  private static func expand(
    _ worlds: [(world: WalkWorld, number: UInt32)], _ model: WalkModel
  ) -> Part {
    var part = Part()
    var known: Set<UInt64> = []
    var bytes: [UInt8] = []
    for (world, number) in worlds {
      let start = WalkStep(model, world)
      for deed in start.deeds() {
        var step = start
        part.transitions += 1
        part.deeds[Int(deed.kind.rawValue)] += 1
        do throws(WalkProblem) { try step.make(deed) } catch {
          part.failures.append((number, WalkFailed(problem: error, deeds: [deed])))
          continue
        }
        step.world.encode(into: &bytes)
        let hash = WalkSet.hash(bytes)
        guard known.insert(hash).inserted else { continue }
        part.found.append(Found(world: step.world, hash: hash, parent: number, deed: deed))
      }
    }
    return part
  }

  private static func settle(
    _ worlds: [(world: WalkWorld, number: UInt32)], _ model: WalkModel
  ) -> [(number: UInt32, failed: WalkFailed)] {
    var quiet = WalkQuiet(model)
    var failures: [(number: UInt32, failed: WalkFailed)] = []
    for (world, number) in worlds {
      do throws(WalkFailed) { try quiet.check(world) } catch { failures.append((number, error)) }
    }
    return failures
  }

  private func describe(_ number: UInt32, _ failed: WalkFailed, quiet: Int) -> WalkFailure {
    var deeds: [WalkDeed] = []
    var place = number
    while place != 0 {
      deeds.append(parents[Int(place)].deed)
      place = parents[Int(place)].parent
    }
    deeds.reverse()
    var start = model.kind.start
    start.canonicalize()
    var step = WalkStep(model, start)
    var words: [String] = []
    for deed in deeds + failed.deeds {
      words.append(step.described(deed))
      // The last one fails.
      do throws(WalkProblem) { try step.make(deed) } catch { break }
    }
    return WalkFailure(
      kind: model.kind, invariant: failed.problem.invariant, problem: failed.problem.problem,
      deeds: words, quietDeeds: quiet)
  }
}
