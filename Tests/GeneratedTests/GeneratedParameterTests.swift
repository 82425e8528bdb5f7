import Ferry
import FerryTestTraits
import Foundation
import Testing

struct GeneratedParameterTests {
  @Test(
    "Parameters and personalization keys have their types and defaults", .reference("facts/1.6"))
  func parameters() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID()).db").path
    let database = try Regions.open(
      at: path, profile: ConnectionProfile(server: "http://127.0.0.1:9"))
    try database.save(Regions.SynchronizationParameters(place: "N12", revision: 3))
    try database.save(Regions.SynchronizationParameters(revision: 4))
    #expect(
      try database.savedParameters() == [
        ParameterSet(["place": "N12", "revision": 3]), ParameterSet(["revision": 4]),
      ])
    let saved = try database.savedParameters(as: Regions.SynchronizationParameters.self)
    #expect(saved.map(\.place) == ["N12", nil])
    #expect(saved.map(\.revision) == [3, 4])
    #expect(saved.first == Regions.SynchronizationParameters(place: "N12", revision: 3))
    #expect(try database.value(of: Regions.PersonalizationKeys.limit) == Decimal(string: "1.5"))
    #expect(try database.value(of: Regions.PersonalizationKeys.isNight) == true)
    try database.set(Regions.PersonalizationKeys.isNight, to: false)
    try database.set(Regions.PersonalizationKeys.since, to: LocalDate("2024-02-29"))
    #expect(try database.value(of: Regions.PersonalizationKeys.isNight) == false)
    let since = try database.value(of: Regions.PersonalizationKeys.since)
    #expect(since?.description == "2024-02-29")
    #expect(Regions.package.parameter(named: "place")?.defaultValue == .text("N \"12\""))
    #expect(try database.value(of: Regions.PersonalizationKeys.home) == "hall")
    #expect(Regions.package.parameter(named: "room")?.from == "home")
    #expect(Regions.package.parameter(named: "place")?.from == nil)
    #expect(
      Regions.package.entity(named: "Lamp")?.partition
        == .columns([
          .init(attribute: "form", source: .constant("\"LED\" 3")),
          .init(attribute: "room", source: .parameter("room", within: "rooms")),
        ]))
    await database.close()
    try FerryDatabase.delete(at: path)
  }
}
