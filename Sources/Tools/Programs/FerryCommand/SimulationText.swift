import FerryJSON
import FerrySimulation

/// How `ferry simulate` speaks of a run.
enum SimulationText {
  static func plain(_ result: SimulationResult, replay: String) -> String {
    let counts = result.counts
    var text =
      "seed \(result.seed): \(counts.commits) commits, \(counts.imports) imports, "
      + "\(counts.accepted) accepted, \(counts.refused) refused, \(counts.unknown) unknown, "
      + "\(counts.crashes) crashes, \(counts.restarts) restarts, \(counts.resets) resets"
    guard let failure = result.failure else { return text }
    for event in result.lastEvents { text += "\n    \(event)" }
    if let kept = result.kept { text += "\nDatabases: \(kept)" }
    return text + "\nseed \(result.seed) FAILED: \(failure)\nAgain: \(replay)"
  }

  static func json(_ shrink: SimulationShrink, replay: String) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("shorter")
    writer.beginObject()
    writer.key("seed")
    writer.raw(String(shrink.seed).utf8)
    writer.field("steps", shrink.plan.steps)
    writer.key("without")
    writer.array(shrink.plan.without.map(\.rawValue).sorted()) { $0.string($1) }
    writer.field("runs", shrink.runs)
    writer.field("replay", replay)
    writer.endObject()
    writer.endObject()
    return writer.text
  }

  static func json(_ result: SimulationResult, replay: String) -> String {
    let counts = result.counts
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("seed")
    writer.raw(String(result.seed).utf8)
    writer.field("steps", counts.steps)
    writer.field("simulatedSeconds", counts.simulatedMilliseconds / 1_000)
    writer.field("commits", counts.commits)
    writer.field("imports", counts.imports)
    writer.field("accepted", counts.accepted)
    writer.field("refused", counts.refused)
    writer.field("unknown", counts.unknown)
    writer.field("cancelled", counts.cancelled)
    writer.field("crashes", counts.crashes)
    writer.field("restarts", counts.restarts)
    writer.field("resets", counts.resets)
    writer.key("faults")
    writer.beginObject()
    for fault in SimulatedFault.allCases {
      writer.field(fault.rawValue, counts.faults[fault] ?? 0)
    }
    writer.endObject()
    writer.key("acts")
    writer.beginObject()
    for act in StatedAct.all {
      writer.field(act.description, counts.acts[act] ?? 0)
    }
    writer.endObject()
    writer.field("digest", String(result.digest, radix: 16))
    writer.field("failure", result.failure)
    writer.field("invariant", result.invariant.map { Int64($0) })
    if result.failure != nil {
      writer.field("step", result.step.map { Int64($0) })
      writer.field("replay", replay)
      writer.field("databases", result.kept)
      writer.key("lastEvents")
      writer.array(result.lastEvents) { $0.string($1) }
    }
    writer.endObject()
    return writer.text
  }
}

/// What many runs came to.
struct SimulationSummary {
  /// Control-C came before the last seed ended.
  var isInterrupted = false
  private(set) var seeds = 0
  private(set) var failed = 0
  private var simulatedMilliseconds = 0
  /// Whether it says which deeds met which states.
  var showsReach = false
  private var reach: [ReachedPair: Int] = [:]
  /// Nil where it is not to be told.
  var wall: Duration?

  mutating func add(_ result: SimulationResult) {
    seeds += 1
    if result.failure != nil { failed += 1 }
    simulatedMilliseconds += result.counts.simulatedMilliseconds
    if showsReach { reach.merge(result.counts.reach, uniquingKeysWith: +) }
  }

  private var wallMilliseconds: Int? {
    guard let (seconds, attoseconds) = wall?.components else { return nil }
    return max(1, Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
  }

  /// How much faster than real time; whole days that were skipped do not count.
  private var ratio: Int? { wallMilliseconds.map { simulatedMilliseconds / $0 } }

  func plain(steps: Int) -> String {
    let count = Terminal.counted(seeds, "seed", "seeds")
    let end = failed == 0 ? "every invariant held" : "\(failed) failed"
    let text =
      "\(isInterrupted ? "interrupted after " : "")\(count), \(steps) steps each: \(end); \(simulatedMilliseconds / 1_000) s simulated"
    guard let wallMilliseconds, let ratio else { return reachText + text }
    return "\(reachText)\(text) in \(wallMilliseconds) ms, \(ratio) x real time"
  }

  /// The pairs that were met, the rarest first.
  private var met: [(pair: ReachedPair, count: Int)] {
    reach.map { ($0.key, $0.value) }.sorted {
      ($0.count, $0.pair.description) < ($1.count, $1.pair.description)
    }
  }

  private var neverMet: [ReachedPair] { ReachedPair.all.filter { reach[$0] == nil } }

  private var reachText: String {
    guard showsReach else { return "" }
    let never = neverMet
    var text = "Deeds and the states of an object's changes that they met, the rarest first:\n"
    for (pair, count) in met { text += "  \(count) x \(pair)\n" }
    text += "Never met:\n"
    for pair in never { text += "  \(pair)\n" }
    let possible = ReachedPair.all.count
    text += "reach: \(possible - never.count) of \(possible) pairs that can be, "
    return text + "and \(met.count { !$0.pair.isPossible }) others\n"
  }

  private func writeReach(_ writer: inout JSONWriter) {
    let never = neverMet
    writer.key("reach")
    writer.beginObject()
    writer.field("possible", ReachedPair.all.count)
    writer.field("met", ReachedPair.all.count - never.count)
    writer.key("pairs")
    writer.beginObject()
    for (pair, count) in met { writer.field(pair.description, count) }
    writer.endObject()
    writer.key("never")
    writer.array(never.map(\.description)) { $0.string($1) }
    writer.endObject()
  }

  var json: String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("seeds", seeds)
    writer.field("failed", failed)
    if isInterrupted { writer.field("interrupted", true) }
    writer.field("simulatedSeconds", simulatedMilliseconds / 1_000)
    writer.field("wallMilliseconds", wallMilliseconds.map { Int64($0) })
    writer.field("timesRealTime", ratio.map { Int64($0) })
    if showsReach { writeReach(&writer) }
    writer.endObject()
    return writer.text
  }
}
