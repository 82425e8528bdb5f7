import FerryJSON
import FerryTestTraits
import FerryWire
import Testing

@Suite("Application settings as JSON")
struct SettingsTests {
  @Test(
    "A value of a kind that this version does not know is left out, and the rest is read",
    .reference("sync/Q9"))
  func unknownKinds() throws {
    let json = """
      {"template":"field","version":"7","later":[1,{"a":2}],"values":{"custom.list":[1,2],
      "custom.color":"green","custom.object":{"x":[]},"custom.rows":9,"custom.rate":1.5,
      "custom.big":18446744073709551616,"custom.none":null,"custom.on":true}}
      """
    let settings = try ApplicationSettings(json: Array(json.utf8))
    #expect(
      settings
        == ApplicationSettings(
          template: "field", version: "7",
          values: [
            "custom.color": .text("green"), "custom.rows": .integer(9), "custom.on": .boolean(true),
          ]))
    // Asked for as another type, a value is none.
    #expect(settings.text("custom.rows") == nil && settings.integer("custom.color") == nil)
    #expect(settings.boolean("custom.rows") == nil && settings.boolean("custom.on") == true)
    #expect(try ApplicationSettings(json: settings.json) == settings)
    for place in json.utf8.indices {
      let cut = Array(json.utf8[..<place])
      #expect(throws: JSONError.self) { try ApplicationSettings(json: cut) }
    }
  }
}
