import Foundation

@main
enum Main {
  static func main() throws {
    var arguments = Array(CommandLine.arguments.dropFirst())
    let isJSON = arguments.contains("--json")
    arguments.removeAll { $0 == "--json" }
    var rounds = 5
    if let place = arguments.firstIndex(of: "--rounds"), arguments.indices.contains(place + 1) {
      rounds = max(Int(arguments[place + 1]) ?? rounds, 1)
      arguments.removeSubrange(place...(place + 1))
    }
    let numbers = Set(arguments.compactMap(Int.init))
    let measures = Measure.all.filter { numbers.isEmpty || numbers.contains($0.number) }
    var figures: [Figure] = []
    for measure in measures {
      FileHandle.standardError.write(Data("measure \(measure.number): \(measure.name)\n".utf8))
      figures += try measure.take(rounds)
    }
    if isJSON {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      print(String(decoding: try encoder.encode(figures), as: UTF8.self))
    } else {
      print("| # | measure | n | unit | limit | ours | ratio | aim | met |")
      print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
      for figure in figures { print(figure.row) }
    }
  }
}

extension Figure {
  var row: String {
    let met = met.map { $0 ? "yes" : "no" } ?? ""
    return "| \(measure) | \(name) | \(n) | \(unit) | \(Figure.short(limit)) | "
      + "\(Figure.short(ours)) | \(Figure.short(ratio)) | \(aim) | \(met) |"
  }

  private static func short(_ value: Double) -> String {
    String(format: value >= 100 ? "%.0f" : "%.3f", value)
  }
}
