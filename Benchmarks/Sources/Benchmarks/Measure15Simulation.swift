import Foundation

extension Measure {
  /// How much faster than real time whole circles run in the simulation, as `ferry simulate` says of
  /// itself; days that it skips do not count. A seed that fails is no figure.
  static let simulation = Measure(number: 15, name: "simulator") { setting in
    let seeds = setting.n(40, quick: 4)
    var ratios: [Double] = []
    for round in setting.eachRound() {
      let first = round * seeds + 1
      let child = try Child(
        "\(setting.programs)/ferry",
        ["simulate", "--seeds", "\(first)-\(first + seeds - 1)", "--steps", "500", "--json"])
      let line = try child.line(within: 600) { $0.contains("\"timesRealTime\"") }
      guard let summary = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
        let ratio = summary["timesRealTime"] as? Double, let failed = summary["failed"] as? Int
      else { throw Trouble("ferry simulate said: \(line)") }
      guard failed == 0 else {
        throw Trouble(
          "\(failed) of the seeds \(first)-\(first + seeds - 1) failed; "
            + "ferry simulate --seeds \(first)-\(first + seeds - 1) tells which")
      }
      ratios.append(ratio)
    }
    return [
      Figure(
        15, "simulated time of \(seeds) seeds against the clock on the wall", n: seeds, unit: "x",
        ours: median(ratios), limit: 1, of: "a test in real time", aim: .ratioAtLeast(1_000))
    ]
  }
}
