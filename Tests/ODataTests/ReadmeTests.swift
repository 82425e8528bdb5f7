import FerryOData
import Testing

/// The lines of Documentation/OData.md and the README, compiled and run.
@Suite("The README") struct ReadmeTests {
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
}
