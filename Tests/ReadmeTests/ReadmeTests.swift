import Ferry
import FerryTestTraits
import Foundation
import Testing

@Suite("The README and the guides beside it")
struct ReadmeTests {
  private func lines(_ path: String) throws -> [String] {
    let root = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// The lines between each pair of the two marks.
  private func pieces(_ first: String, _ last: String, _ lines: [String]) throws -> [[String]] {
    var found: [[String]] = []
    var rest = lines[...]
    while let start = rest.firstIndex(of: first) {
      let end = try #require(rest[(start + 1)...].firstIndex(of: last))
      found.append(Array(rest[(start + 1)..<end]))
      rest = rest[(end + 1)...]
    }
    return found
  }

  @Test(
    "Each page shows the code of its compiled sample, line by line",
    arguments: [
      ("README.md", "ReadmeSample.swift"), ("Documentation/Testing.md", "TestingSample.swift"),
      ("Documentation/Testing.md", "SimulatedSample.swift"),
      ("Documentation/Testing.md", "PreviewSample.swift"),
      ("Documentation/Events.md", "EventsSample.swift"),
      ("Documentation/Views.md", "ViewsSample.swift"),
    ])
  func sameCode(page: String, file: String) throws {
    let printed = try pieces("```swift", "```", try lines(page))
    let compiled = try pieces(
      "// README begins", "// README ends", try lines("Tests/ReadmeTests/\(file)"))
    #expect(compiled.count == 1)
    #expect(compiled.allSatisfy(printed.contains))
  }

  @Test("The sample of previews has downloaded rows, and a draft that is not sent")
  func previews() async throws {
    let sample = FerryDatabase.sample
    let rows = try await Booking.find(in: sample)
    #expect(rows.map { "\($0.bookingID) \($0.passenger)" } == ["1 Ada Lovelace", "2 Grace Hopper"])
    #expect(rows.allSatisfy { !$0.isPending })
    let drafts = try await Booking.find(in: try FerryDatabase.sampleWithDraft)
    #expect(drafts.map(\.isPending) == [false, false, true])
    #expect(drafts.map(\.replayPending) == [0, 0, 0])
    #expect("\(drafts.last?.bookingID ?? 0)" == "new")
  }

  @Test(
    "Its code works without a network: the booking is saved and submitted", .reference("sync/P1"))
  func withoutNetwork() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    // Nothing listens on port 9.
    let database = try openTravel(
      at: folder.appending(path: "device.db").path, server: "http://127.0.0.1:9")
    let offline = await #expect(throws: FerryError.self) { try await signIn(to: database) }
    #expect(offline?.code == .offline)
    let booking = try await book(flight: 318, for: "Grace Hopper", in: database)
    #expect(booking.pendingChange == .create && booking.replayPending > 0)
    #expect(try Booking.findAll(in: database).map(\.passenger) == ["Grace Hopper"])
    #expect(try database.hasPendingOperations)
    #expect(try !database.isSubscribed)
    await database.close()
  }
}
