import FerryArguments
import FerryJSON
import FerrySimulation
import FerryWorld
import Foundation

#if canImport(FoundationEssentials)
  import FoundationEssentials
#endif

/// `ferry simulate --walk`: what it takes, and how it speaks of what it met.
enum WalkText {
  private static let allowedDeeds = 1...12

  /// How many deeds; nil where no walk is asked for.
  static func deeds(_ arguments: Arguments) throws -> Int? {
    let text = try arguments.value("deeds")
    guard arguments.flag("walk") else {
      guard text == nil else {
        throw UsageError("--deeds works only with --walk", hint: "Write --walk --deeds 6.")
      }
      return nil
    }
    for name in ["seed", "seeds", "steps", "nodes", "without", "keep"]
    where try arguments.value(name) != nil {
      throw UsageError("--\(name) cannot be used with --walk", hint: "Leave out one of them.")
    }
    for name in ["sealed", "shrink", "trace"] where arguments.flag(name) {
      throw UsageError("--\(name) cannot be used with --walk", hint: "Leave out one of them.")
    }
    guard let deeds = Int(text ?? "6"), allowedDeeds.contains(deeds) else {
      throw UsageError(
        "--deeds \(text ?? "") is not a number from 1 to \(allowedDeeds.upperBound)",
        hint: "Write --deeds 6.")
    }
    return deeds
  }

  static func run(deeds: Int, planted: Set<PlantedBug>, isJSON: Bool) async throws -> ExitCode {
    if let other = planted.first(where: { !Walk.plants.contains($0) }) {
      throw UsageError(
        "a walk never meets the planted bug \(other.rawValue)",
        hint: "Known: \(Walk.plants.map(\.rawValue).joined(separator: ", ")).")
    }
    let began = ContinuousClock.now
    var all = WalkCounts()
    var failures: [WalkFailure] = []
    let line = CopyProgress("")
    for kind in WalkKind.allCases {
      let begun = ContinuousClock.now
      let (counts, found) = await Walk.run(
        kind, deeds: deeds, planted: planted, failures: planted.isEmpty ? 8 : 1
      ) { soFar in
        line.tell(
          "\(kind.rawValue): \(all.states + soFar.states) states, "
            + "\(all.transitions + soFar.transitions) transitions, deed \(soFar.depth + 1)",
          isEnd: false)
      }
      all.add(counts)
      Terminal.show(
        isJSON
          ? json(kind.rawValue, deeds, counts, found, begun.duration(to: .now))
          : plain(kind.rawValue, counts, found, begun.duration(to: .now)), asJSON: isJSON)
      failures += found
      if !planted.isEmpty, !found.isEmpty { break }
    }
    line.tell(
      "\(all.states) states, \(all.transitions) transitions", isEnd: true)
    let wall = began.duration(to: .now)
    if isJSON {
      Terminal.show(json(nil, deeds, all, failures, wall), asJSON: true)
    } else {
      Terminal.show(plain("all", all, [], wall))
      let words = all.deeds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
      Terminal.show("deeds: \(words.joined(separator: ", "))")
      if failures.isEmpty { Terminal.show("every invariant held") }
    }
    return failures.isEmpty ? .success : .problems
  }

  private static func milliseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    return Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)
  }

  private static func plain(
    _ name: String, _ counts: WalkCounts, _ failures: [WalkFailure], _ wall: Duration
  ) -> String {
    var text =
      "\(name): \(counts.states) states, \(counts.transitions) transitions, "
      + "\(counts.depth) deeds, \(milliseconds(wall)) ms"
    for failure in failures {
      for (place, deed) in failure.deeds.enumerated() {
        let isQuiet = place >= failure.deeds.count - failure.quietDeeds
        text += "\n    \(place + 1). \(deed)\(isQuiet ? " (on the way to rest)" : "")"
      }
      text += "\n\(name) FAILED: invariant \(failure.invariant): \(failure.problem)"
    }
    return text
  }

  private static func json(
    _ name: String?, _ deeds: Int, _ counts: WalkCounts, _ failures: [WalkFailure], _ wall: Duration
  ) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("world", name)
    writer.field("deeds", deeds)
    writer.field("states", counts.states)
    writer.field("transitions", counts.transitions)
    writer.field("wallMilliseconds", milliseconds(wall))
    writer.key("counts")
    writer.beginObject()
    for (word, count) in counts.deeds.sorted(by: { $0.key < $1.key }) { writer.field(word, count) }
    writer.endObject()
    writer.key("failures")
    writer.array(failures) { writer, failure in
      writer.beginObject()
      writer.field("world", failure.kind.rawValue)
      writer.field("invariant", failure.invariant)
      writer.field("problem", failure.problem)
      writer.key("deeds")
      writer.array(failure.deeds) { $0.string($1) }
      writer.endObject()
    }
    writer.endObject()
    return writer.text
  }
}
