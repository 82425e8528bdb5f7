import FerryModel
import Testing

@Suite("What every user gets, in a model") struct OpenReadTests {
  private func read(_ rental: String, nullable: Bool = true, film: String) -> ModelReading {
    let text = """
      { "source": "sqlite:shop.db", "name": "Shop", "version": "1.0", "roles": ["clerk"], "entities": [
        { "name": "Film", "attributes": [{ "name": "id", "type": "long" },
            { "name": "tenant", "type": "string" }], "key": ["id"], "operations": []\(film) },
        { "name": "Rental", "attributes": [{ "name": "id", "type": "long" },
            { "name": "filmID", "type": "long", "nullable": \(nullable) }], "key": ["id"],
          "operations": [],
          "relationships": [{ "name": "film", "target": "Film", "attributes": ["filmID"] }]\(rental)
        }] }
      """
    let reading = ModelReader.read(Array(text.utf8), file: "m")
    #expect(reading.package != nil, "\(reading.problems)")
    return reading
  }

  private let rule = #", "partition": { "columns": { "tenant": "claim:tenant" } }"#
  private let open = #", "partition": { "columns": { "tenant": "open" } }"#
  private let roles = #", "roles": { "read": ["clerk"] }"#

  @Test("An entity for everyone that refers to a partitioned one is named, with the cure")
  func refers() throws {
    let found = read("", film: rule).openings
    #expect(
      found.map(\.what) == [
        "every user gets all objects of Rental, and by Rental.film they belong to Film, which has a "
          + "partition"
      ])
    #expect(found.first?.severity == .warning)
    #expect(found.first?.cure.contains("with columns") == true)
    let closed = read("", nullable: false, film: rule).openings
    #expect(closed.first?.cure.contains(#"{ "through": "film" }"#) == true)
    let through = #", "partition": { "through": "film" }"#
    #expect(read(through, nullable: false, film: rule).openings == [])
    #expect(read(roles, film: rule).openings == [])
    #expect(read("", film: open).openings == [])
  }

  @Test("A model without any rule has one warning")
  func noRule() {
    #expect(
      read("", film: "").openings.map(\.what)
        == ["every user gets all rows: no entity has a \"partition\" or \"roles\""])
    #expect(read("", film: roles).openings == [])
  }

  @Test("A source with a password is an error, which does not repeat it")
  func secret() {
    func errors(_ source: String) -> [ModelProblem] {
      let text = """
        { "source": "\(source)", "name": "Shop", "version": "1.0", "entities": [
          { "name": "Film", "attributes": [{ "name": "id", "type": "long" }], "key": ["id"] }] }
        """
      return ModelReader.read(Array(text.utf8), file: "m").errors
    }
    for source in [
      "postgres:postgresql://ada:geheim@db/shop", "postgres://ada:geheim@db/shop",
      "postgres:host=db password = geheim", "postgresql://db/shop?sslpassword=geheim",
    ] {
      #expect(errors(source).map(\.what) == ["the source has a password"])
      #expect(errors(source).first?.place.path == "source")
      #expect(!errors(source).description.contains("geheim"))
    }
    for source in [
      "postgres:shop", "postgres://ada@db:5432/shop", "sqlite:password=1.db", "postgres:service=a",
    ] {
      #expect(errors(source) == [])
    }
  }
}
