import Foundation

@main
enum Main {
  static func main() async throws {
    var arguments = Array(CommandLine.arguments.dropFirst())
    let isQuick = arguments.contains("--quick")
    arguments.removeAll { $0 == "--quick" }
    let commit = value(of: "--commit", in: &arguments) ?? ""
    let programs = value(of: "--programs", in: &arguments) ?? "."
    let rounds = value(of: "--rounds", in: &arguments).flatMap(Int.init) ?? (isQuick ? 1 : 5)
    let numbers = Set(arguments.compactMap(Int.init))
    guard numbers.count == arguments.count, numbers.isSubset(of: Measure.all.map(\.number)) else {
      let known = Measure.all.map { String($0.number) }.joined(separator: " ")
      say("usage: Benchmarks/run [--json] [--quick] [--rounds N] [number …]; there are \(known)")
      exit(2)
    }
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-benchmark-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let setting = Setting(
      rounds: max(rounds, 1), isQuick: isQuick, folder: folder, programs: programs)
    var results = Results(setting, commit: commit)
    for measure in Measure.all where numbers.isEmpty || numbers.contains(measure.number) {
      say("measure \(measure.number): \(measure.name)")
      do {
        let time = try await seconds { results.figures += try await measure.take(setting) }
        say("  took \(Int(time)) s")
      } catch {
        say("  failed: \(error)")
        results.failed.append(measure.number)
      }
    }
    await setting.servers.end()
    try? FileManager.default.removeItem(at: folder)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    print(String(decoding: try encoder.encode(results), as: UTF8.self))
    exit(results.failed.isEmpty ? 0 : 1)
  }

  private static func value(of option: String, in arguments: inout [String]) -> String? {
    guard let place = arguments.firstIndex(of: option), arguments.indices.contains(place + 1)
    else { return nil }
    let value = arguments[place + 1]
    arguments.removeSubrange(place...(place + 1))
    return value
  }

  private static func say(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
  }
}
