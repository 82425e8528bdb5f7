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
    #expect(end.said.contains("Bookings") && end.said.contains("Travel.Booking"), "\(end.said)")
  }
}
