import FerryOData
import Foundation
import XMLPeer

extension Measure {
  /// Feeds and metadata to typed values: beside libxml2's own parser in C, and Foundation's.
  ///
  /// Time is that of this process on its processor, so that what else the machine does is not in
  /// the figure: bytes per microsecond of it are megabytes a second of one processor.
  static let odata = Measure(number: 11, name: "OData feeds and metadata") { setting in
    let made = FeedMaker(entries: setting.n(50_000, quick: 500))
    let metadata = FeedMaker.metadata(types: setting.n(600, quick: 6))
    let run = ODataRun(made, rounds: setting.rounds)
    let atom = made.atom
    let json = made.json

    let parser = try run.time { try peer(atom) }
    let walked = try run.time { try run.walk(atom) }
    let rows = try run.time { try run.rows(atom) }
    let entries = try run.time { try run.entries(atom) }
    let foundation = try run.time { _ = try JSONSerialization.jsonObject(with: Data(json)) }
    let jsonRows = try run.time { try run.rows(json) }
    let jsonEntries = try run.time { try run.entries(json) }
    let metadataParser = try run.time { try peer(metadata) }
    let schema = try run.time { try run.metadata(metadata) }
    let part = { (time: Double) in Int((time / rows * 100).rounded()) }
    setting.say(
      "of the time to typed values from Atom libxml2's parser has \(part(parser)) %, what we keep "
        + "of it \(part(walked - parser)) %, the values \(part(rows - walked)) %")

    func rate(
      _ name: String, _ bytes: [UInt8], _ time: Double, n: Int, peer: String, _ peerTime: Double,
      aim: Figure.Aim = .none, peak: Double? = nil
    ) -> Figure {
      let speed = { (time: Double) in Double(bytes.count) / time / 1e6 }
      return Figure(
        11, name, n: n, unit: "MB/s", ours: speed(time), limit: speed(peerTime), of: peer,
        aim: aim, peakMegabytes: peak)
    }
    let sax = "libxml2's SAX in C, nothing kept"
    let tree = "Foundation's JSONSerialization"
    let values = made.sum.values
    let peaks = try ["atom": atom, "json": json].mapValues { try peak($0, setting) }
    return [
      rate(
        "Atom to typed values, row by row", atom, rows, n: values, peer: sax, parser,
        aim: .atLeast(200), peak: peaks["atom"]),
      rate("Atom, parsed and no value taken", atom, walked, n: values, peer: sax, parser),
      rate("Atom to whole entries", atom, entries, n: values, peer: sax, parser),
      rate(
        "JSON to typed values, row by row", json, jsonRows, n: values, peer: tree, foundation,
        aim: .atLeast(300), peak: peaks["json"]),
      rate("JSON to whole entries", json, jsonEntries, n: values, peer: tree, foundation),
      rate(
        "metadata to its model", metadata, schema, n: metadata.count, peer: sax, metadataParser,
        aim: .atLeast(60)),
      Figure(
        11, "memory of streaming, the greater of both", n: made.entries, unit: "MB",
        ours: peaks.values.max() ?? 0, aim: .atMost(30)),
    ]
  }

  private static func peer(_ bytes: [UInt8]) throws {
    let elements = bytes.withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { xml_peer_elements($0.baseAddress, $0.count) }
    }
    guard elements > 0 else { throw Trouble("libxml2 could not read the document") }
  }

  /// The most memory of a process that does nothing but stream the feed from a file.
  private static func peak(_ bytes: [UInt8], _ setting: Setting) throws -> Double {
    let file = setting.path("feed-\(bytes.count)")
    try Data(bytes).write(to: URL(filePath: file))
    let process = Process()
    let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    process.executableURL = folder.appending(path: "FeedMemory")
    process.arguments = [file]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try FileManager.default.removeItem(atPath: file)
    let words = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard process.terminationStatus == 0, words.count == 2, let size = Double(words[1]) else {
      throw Trouble("FeedMemory did not read the feed")
    }
    return size / 1_024
  }
}

/// What is done with the documents; each reading is compared with what the maker summed up.
private struct ODataRun {
  private let made: FeedMaker
  private let rounds: Int
  private let options: ODataReadOptions

  init(_ made: FeedMaker, rounds: Int) {
    self.made = made
    self.rounds = rounds
    let types: [(String, EdmPrimitive)] = [
      ("ID", .int32), ("Name", .string), ("City", .string), ("Note", .string), ("Code", .string),
      ("Group", .string), ("Price", .decimal), ("Less", .decimal), ("Mass", .double),
      ("On", .boolean), ("Stock", .int64), ("Stars", .int16), ("Made", .dateTime),
      ("Seen", .dateTime), ("Key", .guid),
    ]
    var product = EdmStructuredType(.entity, namespace: "Bench", name: "Product")
    product.properties = types.map { EdmProperty($0.0, EdmTypeReference($0.1.rawValue)) }
    var schema = EdmSchema(namespace: "Bench")
    schema.entityTypes = [product]
    options = ODataReadOptions(
      metadata: EdmMetadata(version: .v2, schemas: [schema]), type: "Bench.Product")
  }

  /// Seconds of this process on its processor, the median of the rounds.
  func time(_ body: () throws -> Void) rethrows -> Double {
    var times: [Double] = []
    for _ in 0..<rounds {
      times.append(try processorSeconds(body))
    }
    return median(times)
  }

  private func reader(_ bytes: [UInt8]) -> ODataFeedReader {
    let reader = ODataFeedReader(options)
    reader.push(bytes)
    reader.finish()
    return reader
  }

  private func check(_ sum: FeedSum) throws {
    guard sum == made.sum else { throw Trouble("the values do not add up") }
  }

  /// Finds all entries and takes nothing of them.
  func walk(_ bytes: [UInt8]) throws {
    let reader = reader(bytes)
    var count = 0
    while try reader.nextRow() != nil { count += 1 }
    guard count == made.entries else { throw Trouble("entries are missing") }
  }

  func rows(_ bytes: [UInt8]) throws {
    let reader = reader(bytes)
    var sum = FeedSum()
    while let row = try reader.nextRow() { try sum.add(row) }
    try check(sum)
  }

  func entries(_ bytes: [UInt8]) throws {
    let reader = reader(bytes)
    var sum = FeedSum()
    while let entry = try reader.nextEntry() { sum.add(entry) }
    try check(sum)
  }

  func metadata(_ bytes: [UInt8]) throws {
    let read = try EdmMetadata.read(bytes)
    guard read.diagnostics.isEmpty else { throw Trouble("the metadata is not sound") }
  }
}
