import FerryGenerator
import FerryModel
import FerryTestTraits
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

  @Test(
    "The club's model gives the Swift code that was approved, the same each time",
    .reference("facts/5.14"))
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
    #expect(served.entity(named: "Member")?.attributes.count == 22)
    #expect(served.served == served)
  }

  @Test("A complex type may hold a list of its own, and an older device's text of it is read")
  func partsOfTypes() throws {
    let text = try FixtureDatabase.text(ofFixture: "../GeneratedTests/club.model.json")
    let tree = text.replacingOccurrences(
      of: "\"name\": \"phones\", \"type\": \"list\", \"of\": \"string\"",
      with: "\"name\": \"phones\", \"type\": \"list\", \"of\": \"Address\"")
    #expect(tree != text)
    #expect(ModelReader.read(Array(tree.utf8), file: "club.json").problems == [])
    let package = try club()
    let older = ModelWriter.text(of: package).replacingOccurrences(
      of: "\"name\": \"zip\",", with: "\"name\": \"zip\", \"column\": \"zip\",")
    #expect(older.contains("\"column\": \"zip\""))
    #expect(ModelReader.written(older) == package)
  }

  @Test(
    "A mistake in what a model can say is told with its place and cure",
    arguments: [
      (
        "\"of\": \"string\", \"default\": []", "\"default\": []",
        "has no \"of\""
      ),
      (
        "\"of\": \"Address\", \"nullable\": true }", "\"of\": \"Adress\", \"nullable\": true }",
        "Did you mean \"Address\"?"
      ),
      ("\"default\": 0", "\"default\": \"none\"", "the default of visits is not of type int"),
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
        "is not of type bigBinary"
      ),
      (
        "\"type\": \"bigString\", \"nullable\": true }\n      ],",
        "\"type\": \"bigString\", \"nullable\": true }\n      ], \"unique\": [[\"terms\"]],",
        "\"unique\" of Contract names it"
      ),
      (
        "\"zip\", \"type\": \"string\"", "\"zip\", \"type\": \"bigString\"",
        "a part of a complex value cannot be a bigString"
      ),
      (
        "\"name\": \"since\", \"type\"", "\"name\": \"since\", \"maxLength\": 10, \"type\"",
        "only strings have a maxLength; Address.since is of type date"
      ),
      (
        "\"precision\": 6, \"scale\": 2", "\"precision\": 6, \"scale\": 7",
        "Address.rent has 6 digits, 7 of them after the point"
      ),
      (
        "\"name\": \"since\", \"type\"", "\"name\": \"since\", \"default\": null, \"type\"",
        "a part of a complex type has no \"default\""
      ),
      (
        "\"name\": \"since\", \"type\"", "\"name\": \"since\", \"clientOnly\": true, \"type\"",
        "a part of a complex type has no \"clientOnly\""
      ),
      (
        "\"name\": \"since\", \"type\"", "\"name\": \"since\", \"column\": \"s\", \"type\"",
        "a part of a complex type has no \"column\""
      ),
      (
        "\"name\": \"zip\", \"type\"", "\"name\": \"zip\", \"fullText\": true, \"type\"",
        "a part of a complex type has no \"fullText\""
      ),
      (
        "\"name\": \"since\"", "\"name\": \"Zip\"",
        "Address has the part \"Zip\" twice (\"zip\" differs only by case)"
      ),
      (
        "\"name\": \"since\"", "\"name\": \"si nce\"",
        "the part name \"si nce\" is not an identifier"
      ),
      (
        "\"name\": \"since\", \"type\": \"date\"",
        "\"name\": \"since\", \"type\": \"complex\", \"of\": \"Address\"",
        "Address contains itself through Address.since, so its values would never end"
      ),
      (
        "\"types\": [",
        "\"types\": [{ \"name\": \"Flat\", \"attributes\": [{ \"name\": \"at\", \"type\": "
          + "\"complex\", \"of\": \"House\" }] }, { \"name\": \"House\", \"attributes\": "
          + "[{ \"name\": \"best\", \"type\": \"complex\", \"of\": \"Flat\" }] },",
        "House contains itself through House.best, so its values would never end"
      ),
      (
        "\"types\": [", "\"types\": [{ \"name\": \"Flat\", \"attributes\": [] },",
        "the complex type Flat has no part"
      ),
      (
        "\"name\": \"status\", \"type\": \"string\" }], \"where\"",
        "\"name\": \"status\", \"type\": \"bigString\" }], \"where\"",
        "a parameter of a query cannot be a bigString"
      ),
      (
        "\"of\": \"decimal\"", "\"of\": \"bigBinary\"",
        "scores cannot be \"of\" the type \"bigBinary\""
      ),
      (
        "\"type\": \"string\" },\n        { \"name\": \"name\"",
        "\"type\": \"long\" },\n        { \"name\": \"name\"",
        "\"keyOrigin\": \"device\" needs a key of one string attribute"
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
