import FerryJSON
import FerryOData
import FerryODataBatch
import Foundation
import Testing

/// What pyslet, pyodata and Python's parser of mail say of our documents, and we of theirs. The differences that are known,
/// with a ruling each, stand in Documentation/OData.md.
@Suite("Peers: pyslet and pyodata") struct PeerTests {
  /// Runs Scripts/lib/odata-peer.py; where the packages are missing it fails with the install line.
  private func peer(_ verb: String, _ input: [UInt8]) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    let script = DescribeTests.root.appendingPathComponent("Scripts/lib/odata-peer.py").path
    process.arguments = ["python3", script, verb]
    // Scripts/test puts them beside the build.
    process.environment = ProcessInfo.processInfo.environment.merging([
      "PYTHONPATH": DescribeTests.root.appendingPathComponent(".build/peers").path
    ]) { _, ours in ours }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "ferry-peer-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = folder.appendingPathComponent("in")
    let output = folder.appendingPathComponent("out")
    let errors = folder.appendingPathComponent("errors")
    try Data(input).write(to: source)
    for file in [output, errors] { try Data().write(to: file) }
    process.standardInput = try FileHandle(forReadingFrom: source)
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    process.waitUntilExit()
    let complaint = try String(decoding: Data(contentsOf: errors), as: UTF8.self)
    try #require(process.terminationStatus == 0, "\(verb): \(complaint)")
    return try Array(Data(contentsOf: output))
  }

  static let values: [(String, EdmPrimitive, String?)] = [
    ("s", .string, "a <b> & \"c\" é😀"), ("i", .int32, "-5"), ("l", .int64, "9007199254740993"),
    ("d", .decimal, "12.3450"), ("f", .double, "1.5"), ("b", .boolean, "true"),
    ("g", .guid, "01234567-89ab-cdef-0123-456789abcdef"), ("t", .dateTime, "2026-11-21T08:00:00"),
    ("o", .dateTimeOffset, "2026-11-21T08:00:00+01:00"), ("y", .byte, "255"), ("n", .int16, nil),
  ]

  /// pyodata stops at comments, and at associations in a namespace of their own.
  private var metadata: String {
    Samples.metadata2.replacing("<!-- a comment -->", with: "").replacing(
      /<\/Schema>\s*<Schema Namespace="ASSOC"[^>]*>/, with: ""
    ).replacing("ASSOC.", with: "FLIGHT.")
  }

  private var entry: ODataEntry {
    ODataEntry(
      ODataProperties(
        Self.values.map { name, type, text in
          let value = text.flatMap { EdmValue(text: $0, type: type) } ?? .null
          return ODataProperty(name, value, type: EdmTypeReference(type.rawValue))
        }))
  }

  @Test("pyslet reads the values of an Atom entry that we wrote")
  func pysletReads() throws {
    let body = try ODataComposer(.atom, version: .v2).create(entry).body
    let read = try JSONNode.parse(peer("read-atom", body))
    let found = try #require(read.array?.first)
    for (name, _, text) in Self.values {
      #expect(found[name] != nil, "\(name)")
      #expect(found[name]?.string == text, "\(name)")
    }
  }

  @Test("We read the values of an Atom entry that pyslet wrote")
  func pysletWrites() throws {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, type, text) in Self.values + [("e", .time, "08:30:00")] {
      writer.key(name)
      writer.beginArray()
      writer.string(String(type.rawValue.dropFirst(4)))
      if let text { writer.string(text) } else { writer.null() }
      writer.endArray()
    }
    writer.endObject()
    let read = try ODataEntry.read(
      peer("write-atom", writer.bytes), ODataReadOptions(isStrict: true))
    for property in entry.properties { #expect(read[property.name] == property.value) }
    // pyslet writes a time of day where the protocol wants a duration; both are read.
    #expect(read["e"] == .time(EdmDuration(seconds: 30_600)))
  }

  @Test("Python's parser of mail finds the parts of a multipart batch that we wrote")
  func mailReads() throws {
    for seed in UInt64(1)...5 {
      var maker = BatchMaker(seed)
      var batch = maker.batch(false)
      for index in batch.parts.indices {
        // Mail knows no other text than ASCII in heads, and ends every line with CR LF.
        batch.parts[index].headers.removeAll { $0.name == "X-Name" || $0.name == "Content-Type" }
        batch.parts[index].body = "body \(index)\r\n--\r\n--b\(index)".bytes
      }
      let format = ODataBatchFormat.multipart(boundary: batch.freeBoundary)
      let head = "Content-Type: \(format.contentType)\r\n\r\n"
      let read = try JSONNode.parse(peer("read-batch", head.bytes + batch.body(format)))
      let found = try #require(read.array).map { $0.array ?? [] }
      #expect(found.count == batch.parts.count)
      for (theirs, ours) in zip(found, batch.parts) {
        #expect((theirs[0].string == nil) == (ours.group == nil))
        #expect(theirs[0].string?.hasPrefix("\(ours.group ?? "")_") != false)
        #expect(theirs[1].string == ours.id && theirs[2].string == "application/http")
        let message = theirs[3].string ?? ""
        #expect(message.hasSuffix("\r\n\r\n\(ours.text)"), "seed \(seed): \(message)")
      }
    }
  }

  @Test("We read the parts of a multipart batch that Python's writer of mail wrote")
  func mailWrites() throws {
    var writer = JSONWriter()
    let messages: [(String?, String?, String)] = [
      (nil, nil, "GET A HTTP/1.1\r\n\r\n"),
      ("c 1", "1", "POST B HTTP/1.1\r\nContent-Length: 6\r\n\r\nx\r\n--y"),
      ("c 1", "2", "PATCH $1 HTTP/1.1\r\nX: y\r\n\r\n{}"),
    ]
    writer.array(messages) { writer, message in
      writer.beginArray()
      for text in [message.0, message.1, message.2] {
        if let text { writer.string(text) } else { writer.null() }
      }
      writer.endArray()
    }
    let parts = try ODataBatch.read(peer("write-batch", writer.bytes), strict: true).parts
    #expect(parts.map(\.group) == [nil, "c 1", "c 1"] && parts.map(\.id) == [nil, "1", "2"])
    #expect(parts.map(\.url) == ["A", "B", "$1"])
    #expect(parts.map(\.text) == ["", "x\r\n--y", "{}"])
  }

  @Test("pyodata and we find the same types and properties in metadata")
  func pyodataMetadata() throws {
    let read = try JSONNode.parse(peer("metadata", metadata.bytes))
    let schema = try EdmMetadata.read(metadata.bytes)
    let ours = schema.schemas.flatMap(\.entityTypes)
    #expect(read.object?.map(\.key).sorted() == ours.map(\.name).sorted())
    for type in ours {
      let theirs = read[type.name]?.array?.compactMap(\.string)
      #expect(theirs == schema.properties(of: type).map(\.name).sorted())
    }
  }

  @Test("pyodata reads the values of verbose JSON that we wrote")
  func pyodataReads() throws {
    let values: ODataProperties = [
      "carrid": .string("AA"), "connid": .string("0017"), "CURRENCY": .string("EUR"),
      "fldate": try #require(EdmValue(text: "2026-11-21T08:00:00", type: .dateTime)),
      "PRICE": try #require(EdmValue(text: "422.9400", type: .decimal)), "SEATSMAX": .int32(385),
      "MILES": .int64(.max),
    ]
    let schema = try EdmMetadata.read(metadata.bytes)
    let composer = ODataComposer(.json, version: .v2, metadata: schema)
    let body = try composer.create(ODataEntry(type: "FLIGHT.Flight", values)).body
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("metadata", metadata)
    writer.field("type", "Flight")
    writer.key("entry")
    writer.raw(body)
    writer.endObject()
    let read = try JSONNode.parse(peer("read-json", writer.bytes))
    #expect(read["carrid"]?.string == "AA" && read["connid"]?.string == "0017")
    #expect(read["PRICE"]?.string == "422.9400" && read["SEATSMAX"]?.string == "385")
    #expect(read["MILES"]?.string == "9223372036854775807")
    #expect(read["fldate"]?.string == "2026-11-21 08:00:00+00:00")
  }
}
