import FerryModel
import Testing

@Suite("Windows of days, in a model") struct WindowTests {
  private func read(
    _ window: String, attribute: String = #""type": "date""#, more: String = ""
  ) -> ModelReading {
    let text = """
      { "name": "Field", "version": "1.0", "entities": [
        { "name": "Visit", "attributes": [{ "name": "id", "type": "long" },
            { "name": "employee", "type": "long" }, { "name": "day", \(attribute) }],
          "key": ["id"], "partition": { "columns": { "employee": "claim:employee" } },
          "window": \(window)\(more) }] }
      """
    return ModelReader.read(Array(text.utf8), file: "m") { $0 == "UTC" || $0 == "Europe/Berlin" }
  }

  @Test("A window is read and written, with the hour and the zone or without")
  func roundTrip() throws {
    let full = read(
      #"{ "column": "day", "from": "-30 days", "to": "+14 days", "at": "03:05", "zone": "Europe/Berlin" }"#
    )
    #expect(full.problems == [])
    let package = try #require(full.package)
    let window = PartitionWindow(
      attribute: "day", from: -30, to: 14, minute: 185, zone: "Europe/Berlin")
    #expect(package.entity(named: "Visit")?.window == window)
    let text = ModelWriter.text(of: package)
    #expect(
      text.contains(
        #""window": { "column": "day", "from": "-30 days", "to": "+14 days", "at": "03:05", "zone": "Europe/Berlin" }"#
      ))
    #expect(ModelReader.read(Array(text.utf8), file: "m").package == package)
    #expect(ModelReader.written(text) == package)
    let short = try #require(
      read(#"{ "column": "day", "from": "0 days", "to": "1 day" }"#).package)
    #expect(
      short.entity(named: "Visit")?.window
        == PartitionWindow(attribute: "day", from: 0, to: 1, minute: 0, zone: "UTC"))
    #expect(short != package)
  }

  @Test(
    "What is wrong with a window is named",
    arguments: [
      (#"{ "from": "0 days", "to": "1 day" }"#, #"a window needs "column""#),
      (#"{ "column": "dai", "from": "0 days", "to": "1 day" }"#, #"Visit has no attribute "dai""#),
      (
        #"{ "column": "employee", "from": "0 days", "to": "1 day" }"#,
        "Visit.employee is long, and a window needs a day"
      ),
      (
        #"{ "column": "day", "from": "2 days", "to": "1 day" }"#,
        "the window of Visit begins after its end: no row is in it"
      ),
      (
        #"{ "column": "day", "from": "-3661 days", "to": "1 day" }"#,
        "the window of Visit is more than 3660 days away"
      ),
      (#"{ "column": "day", "from": "soon", "to": "1 day" }"#, #""soon" is no number of days"#),
      (
        #"{ "column": "day", "from": "--1 days", "to": "1 day" }"#,
        #""--1 days" is no number of days"#
      ),
      (
        #"{ "column": "day", "from": "0 days", "to": "1 day", "at": "24:00" }"#,
        #""24:00" is no hour of the day"#
      ),
      (
        #"{ "column": "day", "from": "0 days", "to": "1 day", "at": "03:00:00" }"#,
        #""03:00:00" is no hour of the day"#
      ),
      (
        #"{ "column": "day", "from": "0 days", "to": "1 day", "zone": "Mars/Base" }"#,
        #""Mars/Base" is no time zone of this machine"#
      ),
      (
        #"{ "column": "day", "from": "0 days", "to": "1 day", "until": "2030" }"#,
        #"a window has no "until""#
      ),
    ])
  func wrong(window: String, problem: String) {
    let reading = read(window)
    #expect(reading.errors.map(\.what) == [problem])
    #expect(reading.package == nil)
  }

  @Test("A window is for rows of the business system, and better for a day that is never null")
  func where_() {
    let window = #"{ "column": "day", "from": "0 days", "to": "1 day" }"#
    let nullable = read(window, attribute: #""type": "dateTime", "nullable": true"#)
    #expect(
      nullable.warnings.map(\.what) == [
        "Visit.day may be null: such rows are in no partition, and no device gets them"
      ])
    #expect(nullable.package != nil)
    let local = read(window, attribute: #""type": "date", "nullable": true, "clientOnly": true"#)
    #expect(
      local.errors.map(\.what) == ["Visit.day is \"clientOnly\", and the server moves the window"])
    let operation = read(window, more: #", "performs": ["SELECT 1"]"#)
    #expect(
      operation.errors.map(\.what).contains(
        "Visit has no rows of the business system, and cannot have a \"window\""))
  }
}
