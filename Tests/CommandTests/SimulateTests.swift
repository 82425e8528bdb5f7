import FerrySQLite
import Foundation
import Testing

@testable import FerryCommand

struct SimulateTests {
  @Test(
    "A seed that fails names invariant, step and the last events, and its trace is the same bytes each time"
  )
  func replayed() throws {
    let words = [
      "simulate", "--seed", "27", "--steps", "100", "--plant", "rollbackKeeps", "--trace",
    ]
    let first = try RunningFerry.run(words)
    #expect(first.code == 1)
    let lines = first.said.split(separator: "\n")
    let verdict = try #require(lines.last { $0.hasPrefix("seed 27 FAILED: invariant ") })
    #expect(verdict.contains(" at step "))
    let events = lines.filter { $0.hasPrefix("    step ") }
    #expect(events.count > 5, "the last events stand before it")
    #expect(lines.contains(events.last?.dropFirst(4) ?? ""), "and in the trace")
    #expect(
      first.said.contains(
        "Again: ferry simulate --seed 27 --steps 100 --plant rollbackKeeps --trace"))
    let second = try RunningFerry.run(words)
    #expect(second.said == first.said)
  }

  @Test("Bugs that are planted and do not exist, and seeds that are no numbers, are wrong usage")
  func usage() throws {
    #expect(try RunningFerry.run(["simulate", "--plant", "nothing"]).code == 2)
    #expect(try RunningFerry.run(["simulate", "--seeds", "9-1"]).code == 2)
    for steps in ["0", "-5", "1.5", "12345678901234567890"] {
      let end = try RunningFerry.run(["simulate", "--steps", steps])
      #expect(end.code == 2)
      #expect(end.said.contains("not a number from 1 to 1000000"), "\(end.said)")
    }
    #expect(try RunningFerry.run(["simulate", "--seed", "1", "--seeds", "1-2"]).code == 2)
    let stray = try RunningFerry.run(["simulate", "7"])
    #expect(stray.code == 2)
    #expect(stray.said.contains("unexpected \"7\""), "\(stray.said)")
  }

  @Test("A walk counts the states that it met, and ends with 1 at a violated invariant")
  func walk() throws {
    let good = try RunningFerry.run(["simulate", "--walk", "--deeds", "2"])
    #expect(good.code == 0, "\(good.said)")
    #expect(good.said.contains("every invariant held"))
    #expect(good.said.contains("bothThere: "))
    let planted = ["simulate", "--walk", "--deeds", "1", "--plant", "forgottenOriginal"]
    let bad = try RunningFerry.run(planted)
    #expect(bad.code == 1)
    #expect(bad.said.contains("bothThere FAILED: invariant 4: "), "\(bad.said)")
    #expect(bad.said.contains("    1. edit: "), "\(bad.said)")
    let json = try RunningFerry.run(planted + ["--json"], withErrors: false)
    #expect(json.code == 1)
    #expect(json.said.split(separator: "\n").allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
  }

  @Test(
    "A walk takes no seed, no bug that it cannot meet, and no number of deeds beyond twelve",
    arguments: [
      ["--walk", "--seed", "1"], ["--deeds", "3"], ["--walk", "--deeds", "13"],
      ["--walk", "--plant", "noMark"], ["--walk", "--shrink"],
    ])
  func walkUsage(_ words: [String]) throws {
    #expect(try RunningFerry.run(["simulate"] + words).code == 2)
  }

  @Test("With --json a trace leaves standard output to the objects")
  func tracedJSON() throws {
    let end = try RunningFerry.run(
      ["simulate", "--seed", "1", "--steps", "5", "--trace", "--json"], withErrors: false)
    let lines = end.said.split(separator: "\n")
    #expect(end.code == 0)
    #expect(lines.count == 2, "one of the seed and one of all: \(end.said)")
    #expect(lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
  }

  @Test(
    "Control-C prints the summary of the seeds so far, and ends with 130", arguments: [false, true])
  func interrupted(isJSON: Bool) throws {
    let process = Process()
    process.executableURL = FerryProgram.url
    process.arguments =
      ["simulate", "--seeds", "1-100000", "--steps", "5"] + (isJSON ? ["--json"] : [])
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    // The first seeds are known.
    var said = output.fileHandleForReading.availableData
    process.interrupt()
    said += output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 130)
    let lines = String(decoding: said, as: UTF8.self).split(separator: "\n")
    let last = try #require(lines.last)
    let count = lines.count - 1
    #expect(count > 0)
    if isJSON {
      #expect(last.hasPrefix(#"{"seeds":\#(count),"failed":0,"interrupted":true,"#), "\(last)")
    } else {
      #expect(
        last.hasPrefix("interrupted after \(count) seed") && last.contains("every invariant held"),
        "\(last)")
    }
  }

  @Test("A failing seed leaves its databases where it is told, and a shorter command is found")
  func keptAndShorter() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let words = ["simulate", "--seed", "3", "--steps", "500", "--plant", "rollbackKeeps"]
    let end = try RunningFerry.run(words + ["--keep", folder, "--shrink", "--json"])
    #expect(end.code == 1)
    #expect(end.said.contains(#""databases":"\#(folder)/seed-3""#), "\(end.said)")
    let lines = end.said.split(separator: "\n")
    let shorter = try #require(lines.last { $0.hasPrefix(#"{"shorter":{"seed":3,"steps":"#) })
    #expect(shorter.contains(#""replay":"ferry simulate --seed 3 --steps "#))
    #expect(shorter.contains(" --plant rollbackKeeps "))
    for file in ["device-0/device.db", "device-2/device.db", "server/server.sqlite"] {
      let kept = try Connection(path: "\(folder)/seed-3/\(file)", mode: .readWrite)
      #expect(try kept.value("PRAGMA quick_check")?.text == "ok", "\(file)")
    }
    let nowhere = try RunningFerry.run(words + ["--keep", "/dev/null/here"])
    #expect(nowhere.code == 1)
    #expect(nowhere.said.contains("Databases: not kept: /dev/null/here/"), "\(nowhere.said)")
  }

  @Test(
    "--reach says which deeds met which states, and which never; --guided stands in what repeats a run"
  )
  func reach() throws {
    let words = ["simulate", "--seeds", "1-3", "--steps", "100", "--reach"]
    let plain = try RunningFerry.run(words)
    #expect(plain.code == 0, "\(plain.said)")
    let lines = plain.said.split(separator: "\n")
    let total = try #require(lines.first { $0.hasPrefix("reach: ") })
    #expect(total.contains(" pairs that can be, and "), "\(total)")
    #expect(lines.contains { $0.hasSuffix(" x edit: create waiting") }, "\(plain.said)")
    #expect(lines.contains("Never met:"))
    let json = try RunningFerry.run(words + ["--json"], withErrors: false)
    let last = try #require(json.said.split(separator: "\n").last)
    #expect(last.contains(#""reach":{"possible":"#), "\(last)")
    #expect(last.contains(#""never":["#), "\(last)")
    let guided = try RunningFerry.run([
      "simulate", "--seed", "3", "--guided", "--plant", "rollbackKeeps",
    ])
    #expect(guided.code == 1)
    #expect(guided.said.contains("--steps 500 --guided --plant rollbackKeeps --trace"))
    #expect(try RunningFerry.run(["simulate", "--nodes", "2", "--reach"]).code == 2)
  }

  @Test("Faults that do not exist, and a shorter run of many seeds, are wrong usage")
  func helpUsage() throws {
    let fault = try RunningFerry.run(["simulate", "--without", "requestLost,rain"])
    #expect(fault.code == 2)
    #expect(fault.said.contains("there is no fault rain"), "\(fault.said)")
    #expect(try RunningFerry.run(["simulate", "--without", "group"]).code == 2)
    let many = try RunningFerry.run(["simulate", "--seeds", "1-2", "--shrink"])
    #expect(many.code == 2)
    #expect(many.said.contains("--shrink works only with --seed"), "\(many.said)")
    let held = try RunningFerry.run(
      ["simulate", "--seed", "1", "--steps", "5", "--without", "requestLost", "--shrink"])
    #expect(held.code == 0)
    #expect(held.said.contains("no failure to shorten"), "\(held.said)")
  }
}
