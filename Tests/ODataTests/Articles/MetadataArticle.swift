import FerryOData
import Testing

@Suite("The article on metadata") struct MetadataArticle {
  @Test("Types, keys and properties are found by their names")
  func lookups() throws {
    let bytes = Samples.metadata2.bytes
    var complaints: [String] = []
    var keys: [String] = []
    var names: [String] = []

    let metadata = try EdmMetadata.read(bytes)
    for fault in metadata.diagnostics { complaints.append("\(fault)") }

    if let flight = metadata.entityType("FLIGHT.Flight") {
      keys = metadata.keys(of: flight).map(\.name)
      names = metadata.properties(of: flight).map(\.name)
    }

    #expect(complaints.isEmpty)
    #expect(keys == ["carrid", "connid", "fldate"])
    #expect(names.contains("PRICE"))
  }
}
