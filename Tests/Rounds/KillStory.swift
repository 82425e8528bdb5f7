import FerryJSON
import FerryStage
import Foundation

/// Rounds of work in which processes are killed; nothing that was saved may be lost or done twice.
///
/// The seed decides the work, the victims and the times. What a kill meets is the machine's doing:
/// the same seed makes the same plan, not the same run.
struct KillStory {
  let stage: Stage
  let database: BusinessDatabase
  let rounds: Int
  let seed: UInt64
  let isJSON: Bool
  let plant: KillPlant?
  let postgreSQLLine: String?

  private var check: String {
    if case .postgreSQL = database { "kill-postgres" } else { "kill" }
  }

  /// False when a round found something lost, doubled or different.
  func tell() throws -> Bool {
    let narrator = stage.narrator
    if !isJSON {
      narrator.title("\(rounds) rounds with kill -9, seed \(seed)")
    }
    let begin = ContinuousClock.now
    let house = try KillHouse(stage, database, plant: plant, postgreSQLLine: postgreSQLLine)
    var tallies: [KillTally] = []
    var problems: [String] = []
    for number in 1...rounds {
      let round = try KillRound(number, house, seed: seed)
      var found: [String] = []
      do { try round.run() } catch { found.append("\(error)") }
      found += round.problems
      tallies.append(round.tally)
      found += house.crashed(tallies.flatMap(\.kills))
      problems += found.map { "round \(number): \($0)" }
      tell(number, round.tally, found)
      house.forgetEnded()
      if !problems.isEmpty { break }
    }
    house.reaper.forget()
    close(tallies, problems, house, begin.duration(to: .now))
    return problems.isEmpty
  }

  private func tell(_ number: Int, _ tally: KillTally, _ problems: [String]) {
    guard isJSON else {
      stage.narrator.say(
        "round \(number): killed \(shown(tally.kills)); "
          + "\(tally.saved) saved, \(tally.untold) untold, \(tally.accepted) accepted, "
          + "\(tally.refused) refused, \(tally.cancelled) cancelled, \(tally.outside) by others; "
          + "equal after \(tally.quiet.shown)")
      return
    }
    write { writer in
      writer.field("round", number)
      fill(&writer, tally)
      writer.key("problems")
      writer.array(problems) { $0.string($1) }
    }
  }

  private func shown(_ kills: [String]) -> String {
    kills.isEmpty ? "nobody" : kills.joined(separator: ", ")
  }

  private func fill(_ writer: inout JSONWriter, _ tally: KillTally) {
    writer.key("kills")
    writer.array(tally.kills) { $0.string($1) }
    writer.field("saved", tally.saved)
    writer.field("untold", tally.untold)
    writer.field("accepted", tally.accepted)
    writer.field("refused", tally.refused)
    writer.field("cancelled", tally.cancelled)
    writer.field("byOthers", tally.outside)
    writer.field("effects", tally.effects)
    writer.field("quietMilliseconds", Int(tally.quiet / .milliseconds(1)))
  }

  private func close(
    _ tallies: [KillTally], _ problems: [String], _ house: KillHouse, _ time: Duration
  ) {
    let kills = tallies.flatMap(\.kills)
    let victims = house.victims.map { name in
      (name, kills.filter { $0 == name }.count)
    }
    let saved = tallies.reduce(0) { $0 + $1.saved }
    let accepted = tallies.reduce(0) { $0 + $1.accepted }
    let refused = tallies.reduce(0) { $0 + $1.refused }
    let effects = tallies.reduce(0) { $0 + $1.effects }
    guard isJSON else {
      let narrator = stage.narrator
      for problem in problems { narrator.say("PROBLEM: \(problem)") }
      let shown = victims.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
      narrator.say(
        "\n\(tallies.count) rounds, seed \(seed), \(time.shown): \(kills.count) kills (\(shown)), "
          + "\(house.restarts) restarts; \(saved) changes saved, \(accepted) accepted, "
          + "\(refused) refused, \(effects) effects in the business database.")
      narrator.say(
        problems.isEmpty
          ? "Nothing was lost, nothing was done twice, every answer was told."
          : "\(problems.count) problems. Again: Scripts/check \(check) --seed \(seed) --rounds \(rounds)"
      )
      return
    }
    write { writer in
      writer.field("rounds", tallies.count)
      writer.field("seed", String(seed))
      writer.field("milliseconds", Int(time / .milliseconds(1)))
      writer.key("kills")
      writer.beginObject()
      for (name, count) in victims { writer.field(name, count) }
      writer.endObject()
      writer.field("restarts", house.restarts)
      writer.field("saved", saved)
      writer.field("accepted", accepted)
      writer.field("refused", refused)
      writer.field("effects", effects)
      writer.key("problems")
      writer.array(problems) { $0.string($1) }
      writer.field("holds", problems.isEmpty)
    }
  }

  private func write(_ fill: (inout JSONWriter) -> Void) {
    var writer = JSONWriter()
    writer.beginObject()
    fill(&writer)
    writer.endObject()
    FileHandle.standardOutput.write(Data(writer.bytes + [0x0A]))
  }
}
