import FerryOData
import Testing

@Suite("The article on reading") struct ReadingArticle {
  @Test("A feed is read whole, and the same feed by pieces")
  func feed() throws {
    let metadataBytes = Samples.metadata2.bytes
    let feedBytes = Samples.atomFeed(
      entries: Samples.flightEntry, head: "<link rel=\"next\" href=\"n\"/>"
    ).bytes
    var total = 0.0
    var pieces = stride(from: 0, to: feedBytes.count, by: 100).map {
      Array(feedBytes[$0..<min($0 + 100, feedBytes.count)])
    }
    func nextPiece() -> [UInt8]? { pieces.isEmpty ? nil : pieces.removeFirst() }
    var used: [ODataEntry] = []
    func use(_ entry: ODataEntry) { used.append(entry) }

    let metadata = try EdmMetadata.read(metadataBytes)
    let options = ODataReadOptions(metadata: metadata, set: "FlightCollection")
    for flight in try ODataFeed.read(feedBytes, options).entries {
      total += flight["PRICE"]?.approximate ?? 0
    }

    let reader = ODataFeedReader(options)
    while let piece = nextPiece() {
      reader.push(piece)
      while let entry = try reader.nextEntry() { use(entry) }
    }
    reader.finish()
    while let entry = try reader.nextEntry() { use(entry) }
    let more = reader.head.next

    #expect(total == 422.94 && more == "http://host/service/n")
    #expect(used.map { $0["PRICE"]?.approximate } == [422.94])
  }

  @Test("A feed is read into types of one's own")
  func rows() throws {
    var names: [String] = []
    var total = 0.0
    let reader = ODataFeedReader()
    reader.push(Samples.atomFeed(entries: Samples.flightEntry).bytes)
    reader.finish()

    while let row = try reader.nextRow() {
      names.append(try row.string("carrid") ?? "")
      total += try row.double("PRICE") ?? 0
    }

    #expect(names == ["AA"] && total == 422.94)
  }
}
