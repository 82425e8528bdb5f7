import FerryOData
import Testing

@Suite("The article on limits") struct LimitsArticle {
  @Test("A limit is raised for one reading")
  func raised() throws {
    let metadata = try EdmMetadata.read(Samples.metadata2.bytes)

    var options = ODataReadOptions(metadata: metadata)
    options.limits.recordBytes = 256 << 20

    #expect(options.limits != .standard)
  }
}
