import FerryOData
import Foundation
import Testing

/// The first example of Documentation/OData.md, compiled and run.
@Suite("The page about OData") struct ReadmeTests {
  @Test("A feed is read in five lines")
  func feed() throws {
    let metadataBytes = Samples.metadata2.bytes
    let feedBytes = Samples.atomFeed(entries: Samples.flightEntry).bytes
    var total = 0.0

    let metadata = try EdmMetadata.read(metadataBytes)
    let options = ODataReadOptions(metadata: metadata, set: "FlightCollection")
    for flight in try ODataFeed.read(feedBytes, options).entries {
      total += flight["PRICE"]?.approximate ?? 0
    }

    #expect(total == 422.94)
  }

  @Test("The page shows exactly these lines")
  func shown() throws {
    let root = DescribeTests.root
    let lines = { (path: String) in
      try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    let compiled = try lines("Tests/ODataTests/ReadmeTests.swift")
    let start = try #require(compiled.firstIndex { $0.hasPrefix("let metadata = ") })
    let shown = try lines("Documentation/OData.md")
    let place = try #require(shown.firstIndex(of: compiled[start]))
    #expect(shown[place..<(place + 5)] == compiled[start..<(start + 5)])
  }
}
