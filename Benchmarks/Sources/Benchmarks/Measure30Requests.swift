import Foundation

extension Measure {
  /// Requests of the OData client and of the REST connector over loopback, each series in a process of its own.
  static let requests = Measure(number: 30, name: "requests") { setting in
    let entries = setting.n(50_000, quick: 2_000)
    let count = setting.n(8_000, quick: 160)
    var figures: [Figure] = []
    var pairs: [[Double]] = []
    for _ in setting.eachRound() {
      pairs.append(try Requests.run(["feed", "\(entries)"], setting))
    }
    figures.append(
      Figure(
        30, "JSON entries, paged over loopback, read as rows", n: entries, unit: "entries/s",
        ours: median(pairs.map { $0[0] }), limit: median(pairs.map { $0[1] }), of: "from memory",
        aim: .ratioAtLeast(0.7)))
    pairs = []
    for _ in setting.eachRound() { pairs.append(try Requests.run(["side", "\(count)"], setting)) }
    figures.append(
      Figure(
        30, "requests of a session, 16 side by side", n: count, unit: "requests/s",
        ours: median(pairs.map { $0[0] }), limit: median(pairs.map { $0[1] }),
        of: "the transport alone", aim: .ratioAtLeast(0.8)))
    let operations = setting.n(8_000, quick: 160)
    pairs = []
    for _ in setting.eachRound() {
      pairs.append(try Requests.run(["replay", "\(operations)"], setting))
    }
    figures.append(
      Figure(
        30, "replay to a REST service of 5 ms, 16 side by side", n: operations,
        unit: "operations/s", ours: median(pairs.map { $0[0] }), limit: median(pairs.map { $0[1] }),
        of: "libcurl alone", aim: .ratioAtLeast(0.6)))
    for way in ["up", "down"] {
      figures.append(
        Figure(
          30, "memory of 1 GB \(way)", n: 1, unit: "MB",
          ours: try Requests.run([way], setting)[1] / 1_024, aim: .atMost(60)))
    }
    return figures
  }
}

private enum Requests {
  /// The two numbers that the program prints.
  static func run(_ words: [String], _ setting: Setting) throws -> [Double] {
    let process = Process()
    process.executableURL = URL(filePath: "\(setting.programs)/RequestFigures")
    process.arguments = words
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let numbers = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
      .compactMap { Double($0) }
    guard process.terminationStatus == 0, numbers.count == 2 else {
      throw Trouble("RequestFigures \(words.joined(separator: " ")) gave no figures")
    }
    return numbers
  }
}
