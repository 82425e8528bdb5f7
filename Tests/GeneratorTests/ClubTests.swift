import FerryGenerator
import FerryModel
import Foundation
import Testing

/// A model with everything that a model can say, and the code that comes of it; GeneratedTests
/// compile and use the same model.
struct ClubTests {
  private func club() throws -> Package {
    let text = try FixtureDatabase.text(ofFixture: "../GeneratedTests/club.model.json")
    let reading = ModelReader.read(Array(text.utf8), file: "club.model.json")
    #expect(reading.problems == [])
    return try #require(reading.package)
  }

  @Test("The club's model gives the Swift code that was approved, the same each time")
  func code() throws {
    let code = SwiftRenderer.render(try club(), from: "club.model.json")
    #expect(try FixtureDatabase.differs(code, from: "Club.swift.txt") == nil)
    #expect(SwiftRenderer.render(try club(), from: "club.model.json") == code)
  }

  @Test("What the club's model says is written and read back the same")
  func written() throws {
    let package = try club()
    let text = ModelWriter.text(of: package)
    #expect(ModelReader.read(Array(text.utf8), file: "club.json").package == package)
  }

  @Test("The server's club has no part that stays on the device")
  func served() throws {
    let served = try club().served
    #expect(served.entity(named: "Reminder") == nil)
    #expect(served.entity(named: "Member")?.position(of: "draft") == nil)
    #expect(served.entity(named: "Member")?.attributes.count == 20)
    #expect(served.served == served)
  }

  @Test(
    "A mistake in what a model can say is told with its place and cure",
    arguments: [
      (
        "\"of\": \"string\", \"default\": []", "\"default\": []",
        "does not say what it is a list of"
      ),
      (
        "\"of\": \"Address\", \"nullable\": true }", "\"of\": \"Adress\", \"nullable\": true }",
        "Did you mean \"Address\"?"
      ),
      ("\"default\": 0", "\"default\": \"none\"", "the default of visits is no int"),
      ("\"default\": false", "\"nullable\": false", "a downloaded row has no value for it"),
      (
        ":status WHERE memberID = :memberID", ":stat WHERE memberID = :memberID",
        "has no attribute \"stat\""
      ),
      ("status = :status\"", "status = :state\"", "the query has no parameter \"state\""),
      ("\"keyOrigin\": \"device\",\n      \"performs\"", "\"performs\"", ""),
      (
        "\"bigBinary\", \"nullable\": true", "\"bigBinary\"",
        "Contract.scan is a big value, which a new object does not have yet"
      ),
      (
        "\"bigBinary\", \"nullable\": true", "\"bigBinary\", \"nullable\": true, \"default\": \"\"",
        "is no bigBinary"
      ),
      (
        "\"type\": \"bigString\", \"nullable\": true }\n      ],",
        "\"type\": \"bigString\", \"nullable\": true }\n      ], \"unique\": [[\"terms\"]],",
        "what is unique of Contract names it"
      ),
      (
        "\"zip\", \"type\": \"string\"", "\"zip\", \"type\": \"bigString\"",
        "a part of a complex value cannot be a bigString"
      ),
      (
        "\"name\": \"status\", \"type\": \"string\" }], \"where\"",
        "\"name\": \"status\", \"type\": \"bigString\" }], \"where\"",
        "a parameter of a query cannot be a bigString"
      ),
      ("\"of\": \"decimal\"", "\"of\": \"bigBinary\"", "is no type that scores can be of"),
      (
        "\"type\": \"string\" },\n        { \"name\": \"name\"",
        "\"type\": \"long\" },\n        { \"name\": \"name\"",
        "a key that the device makes is one string"
      ),
    ])
  func mistakes(_ old: String, _ new: String, _ message: String) throws {
    let text = try FixtureDatabase.text(ofFixture: "../GeneratedTests/club.model.json")
    let changed = text.replacingOccurrences(of: old, with: new)
    let reading = ModelReader.read(Array(changed.utf8), file: "club.model.json")
    guard !message.isEmpty else { return }
    #expect(changed != text)
    #expect(
      reading.errors.contains { $0.description.contains(message) },
      "\(reading.errors.map(\.description))")
  }
}
