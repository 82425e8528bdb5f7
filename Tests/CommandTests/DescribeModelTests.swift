import Foundation
import Testing

/// `ferry odata describe` of a model.
struct DescribeModelTests {
  private static let model = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Samples/Travel/model.json").path

  @Test("A model is described as the service that it is", arguments: ["4", "2"])
  func describe(_ version: String) throws {
    let end = try RunningFerry.run(
      ["odata", "describe", Self.model, "--version", version], withErrors: false)
    #expect(end.code == 0)
    #expect(
      end.said.contains("schemas: Travel\n") && end.said.contains("entitySets: 4\n"), "\(end.said)")
    // Relationships are navigation properties, and in V2 associations too.
    #expect(end.said.contains("navigationProperties: 6\n"), "\(end.said)")
    #expect(end.said.contains("associations: 0\n") == (version == "4"), "\(end.said)")
  }
}
