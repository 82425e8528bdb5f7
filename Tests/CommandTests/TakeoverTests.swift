import Ferry
import FerryModel
import FerrySQLite
import FerryTakeover
import Foundation
import Testing

@Suite("Pending work of another product")
struct TakeoverTests {
  private let old: OldProduct

  init() throws { old = try OldProduct() }

  private func enterAll() throws {
    try old.enter(
      (
        1,
        #"{"op":"PUT","type":"customers","id":"c-1","data":{"code":"NEW","name":"Niels","since":"2020-01-31","seen":0}}"#
      ),
      (1, #"{"op":"PUT","type":"visits","id":"v-1","data":{"customer_id":"c-1","town":"Oslo"}}"#),
      (2, #"{"op":"PATCH","type":"customers","id":"c-2","data":{"name":"Grace Hopper"}}"#),
      (3, #"{"op":"PUT","type":"notes","id":9001,"data":{"text":"new","visit_id":"v-1"}}"#),
      (nil, #"{"op":"PATCH","type":"notes","id":7,"data":{"text":"seen"}}"#),
      (nil, #"{"op":"DELETE","type":"notes","id":8}"#),
      (4, #"{"op":"PUT","type":"notes","id":9002,"data":{"text":"two","visit_id":"v-2"}}"#))
  }

  @Test("Without --apply it says what would be done, and changes neither file")
  func trial() throws {
    try enterAll()
    let before = try old.bytes("old.db", "device.db")
    let (code, said) = try old.run()
    #expect(code == 0)
    #expect(
      said
        == "7 entries (4 create, 2 update, 1 delete) can be taken over. Nothing was changed; add "
        + "--apply to do it.\n")
    #expect(try old.bytes("old.db", "device.db") == before)
    #expect(
      Set(try FileManager.default.contentsOfDirectory(atPath: old.folder.path))
        .isDisjoint(with: ["old.db-wal", "old.db-shm", "old.db-journal"]))
    for name in ["Customer", "Visit", "Note"] { #expect(try old.pending(name).isEmpty) }
  }

  @Test("Entries become pending operations; references to new rows lead to the new objects")
  func applied() throws {
    try enterAll()
    let before = try old.bytes("old.db")
    let (code, said) = try old.run("--apply")
    #expect(code == 0 && said.hasSuffix("taken over. The next synchronization sends them.\n"))
    #expect(try old.bytes("old.db") == before)
    #expect(
      try old.pending("Customer") == [
        "update GRACE Grace Hopper null", "create NEW Niels 2020-01-31",
      ])
    let visits = try old.pending("Visit")
    let key = try #require(visits.first?.split(separator: " ").dropFirst().first)
    #expect(visits == ["create \(key) NEW Oslo"] && key.hasPrefix("-"))
    let notes = try old.pending("Note")
    #expect(
      notes.count == 4 && notes.contains("update 7 seen 31") && notes.contains("delete 8 gone 31"))
    #expect(notes.contains { $0.hasPrefix("create -") && $0.hasSuffix(" new \(key)") })
    #expect(notes.contains { $0.hasPrefix("create -") && $0.hasSuffix(" two 31") })
    let store = try old.open()
    defer { store.close() }
    let customer = try #require(old.package.entity(named: "Customer"))
    let sent = try PendingObjects(store).all(customer, nil, .all, skip: 0, take: nil)
    #expect(sent.allSatisfy { $0.replay.pending > 0 })
  }

  @Test("As drafts they wait for the app")
  func drafts() throws {
    try enterAll()
    let (code, said) = try old.run("--apply", "--drafts")
    #expect(code == 0 && said.hasSuffix("They wait as drafts until the app submits them.\n"))
    let store = try old.open()
    defer { store.close() }
    for entity in old.package.entities {
      let all = try PendingObjects(store).all(entity, nil, .all, skip: 0, take: nil)
      #expect(!all.isEmpty && all.allSatisfy { $0.replay.pending == 0 })
    }
  }

  @Test("A second run does nothing twice, and takes over what is new, with its references")
  func again() throws {
    try enterAll()
    #expect(try old.run("--apply").code == 0)
    let notes = try old.pending("Note")
    let (code, said) = try old.run("--apply", "--json")
    #expect(code == 0 && said.contains("\"takenBefore\":7") && said.contains("\"entries\":0"))
    #expect(try old.pending("Note") == notes)
    try old.enter(
      (5, #"{"op":"PUT","type":"notes","id":9003,"data":{"text":"three","visit_id":"v-1"}}"#),
      (6, #"{"op":"PATCH","type":"visits","id":"v-1","data":{"town":"Rome"}}"#))
    #expect(try old.run("--apply").code == 0)
    let visit = try #require(try old.pending("Visit").first)
    let key = try #require(visit.split(separator: " ").dropFirst().first)
    #expect(visit == "create \(key) NEW Rome")
    #expect(try old.pending("Note").contains { $0.hasSuffix(" three \(key)") })
  }

  @Test("An entry that cannot be taken over is named with its cure, and nothing is written")
  func faults() throws {
    try old.enter(
      (1, #"{"op":"PATCH","type":"customers","id":"c-2","data":{"name":"Good"}}"#),
      (2, #"{"op":"MERGE","type":"customers","id":"c-2","data":{}}"#),
      (3, #"{"op":"PUT","type":"orders","id":"o-1","data":{}}"#),
      (4, #"{"op":"PATCH","type":"notes","id":99,"data":{"text":"none"}}"#),
      (5, #"{"op":"PATCH","type":"notes","id":7,"data":{"colour":"red"}}"#),
      (
        6,
        #"{"op":"PUT","type":"customers","id":"c-3","data":{"code":"C","name":"Hidden Secret Of A Customer"}}"#
      ),
      (7, #"{"op":"PATCH","type":"customers","id":"c-2","data":{"since":"soon"}}"#),
      (8, #"{"op":"DELETE","type":"customers","id":"c-2"}"#), (9, "no JSON"),
      (10, #"{"op":"PUT","type":"notes","id":9001,"data":{"text":"x","visit_id":"v-7"}}"#))
    let before = try old.bytes("device.db")
    let (code, said) = try old.run("--apply")
    #expect(code == 1)
    let lines = said.split(separator: "\n").map(String.init)
    let expected = [
      ("entry 2: the operation \"MERGE\" is unknown", "outbox.operations"),
      ("entry 3: the type \"orders\" is not mapped", "Known here"),
      ("entry 4, notes: the Note that it changes is not on the device", "Synchronize"),
      ("entry 5: the column colour is not mapped", "types.notes.columns"),
      ("entry 6, customers: Customer.name cannot be saved", ""),
      ("entry 7, customers: Customer.since: the value of the column since is no date", "null"),
      ("entry 8, customers: the model allows no delete", ""),
      ("entry 9: its text is no JSON", "outbox"),
      ("entry 10, notes: Note: visit_id refers to the row v-7 of visits", "synchronize"),
    ]
    for (text, cure) in expected {
      let line = lines.first {
        $0.contains(text) || $0.replacing(", notes", with: "").contains(text)
      }
      #expect(line != nil, "\(text) in \(said)")
      #expect(line?.contains(cure) == true || cure.isEmpty, "\(line ?? "")")
    }
    #expect(
      lines.last == "9 entries cannot be taken over, 1 entry (1 update) can. Nothing was changed.")
    #expect(!said.contains("soon") && !said.contains("Secret"))
    #expect(try old.bytes("device.db") == before && old.pending("Customer").isEmpty)
    let json = try old.run("--json")
    #expect(json.code == 1 && json.said.contains("\"faults\":9"))
    #expect(json.said.contains(#""entry":"4","type":"notes","message":"#))
  }

  @Test("A transaction with one entry that cannot be taken over is left out as a whole")
  func wholeTransactions() throws {
    try old.enter(
      (1, #"{"op":"PATCH","type":"customers","id":"c-2","data":{"name":"Good"}}"#),
      (1, #"{"op":"PATCH","type":"notes","id":99,"data":{"text":"none"}}"#),
      (2, #"{"op":"PATCH","type":"notes","id":7,"data":{"text":"seen"}}"#))
    let (_, said) = try old.run("--json")
    #expect(said.contains("\"entries\":1") && said.contains("\"faults\":1"))
  }

  @Test(
    "An outbox of columns takes the values from the rows, and saves whether there is an object or not"
  )
  func columns() throws {
    let file = try Connection(path: old.path("old.db"))
    try file.execute(
      """
      CREATE TABLE changes (number INTEGER, what TEXT, "of" TEXT, row TEXT);
      INSERT INTO changes VALUES (1, 's', 'customers', 'c-1'), (2, 's', 'customers', 'c-2'), (3, 's', 'visits', 'v-2');
      """)
    let start = try #require(OldProduct.mapping.range(of: "\"types\""))
    try old.write(
      """
      { "outbox": { "table": "changes", "order": "number", "operation": "what", "type": "of",
        "key": "row", "operations": { "s": "save" } },
      """ + OldProduct.mapping[start.lowerBound...], "map.json")
    let (code, said) = try old.run("--apply")
    #expect(code == 0, "\(said)")
    #expect(
      try old.pending("Customer") == [
        "update GRACE Grace Hopper null", "create NEW Niels 2020-01-31",
      ])
    // The row says what the device has already.
    #expect(try old.pending("Visit").allSatisfy { $0 == "update 31 GRACE Bonn" })
  }

  @Test(
    "A mapping that says what is not so is refused at its place",
    arguments: [
      ("\"table\": \"ps_crud\"", "\"table\": \"ps_crut\"", "outbox.table: ", "ps_crud"),
      (
        "\"order\": \"id\"", "\"order\": \"nr\"",
        "outbox.order: the table ps_crud has no column nr", "Known here: id"
      ),
      ("\"seen\": null", "\"sen\": null", "types.customers.columns: ", "seen"),
      (", \"seen\": null", "", "types.customers.columns says nothing of the column seen", "null"),
      ("\"entity\": \"Note\"", "\"entity\": \"Nope\"", "the package Visits has no Nope", "Note"),
      ("\"town\": \"town\"", "\"town\": \"twon\"", "Visit has no attribute twon", "town"),
      (
        "\"visit_id\": \"visits\"", "\"visit_id\": \"visit\"", "the mapping has no type \"visit\"",
        "visits"
      ),
      (
        "\"visit_id\": \"visits\"", "\"visit_id\": \"customers\"",
        "no relationship of Note leads to Customer", "Map the column"
      ),
      ("\"PUT\": \"create\"", "\"PUT\": \"insert\"", "\"insert\" is no operation", "create"),
      ("\"values\": \"data\"", "\"vals\": \"data\"", "outbox.vals is no member", "values"),
      ("\"order\": \"id\",", "", "outbox.order is missing", "Add it"),
      ("\"types\": {", "\"types\": [", "the mapping is no JSON text", "Correct it"),
    ])
  func badMappings(_ change: (String, String, String, String)) throws {
    #expect(OldProduct.mapping.contains(change.0))
    try old.write(OldProduct.mapping.replacing(change.0, with: change.1), "map.json")
    let (code, said) = try old.run()
    #expect(code == 1 && said.contains(change.2) && said.contains(change.3), "\(said)")
  }

  @Test("Wrong files and a wrong command line have their codes and their cures")
  func wrongFiles() throws {
    #expect(try FerryProgram.run(["takeover", old.path("old.db")]).code == 2)
    #expect(try old.run(file: "none.db").said.contains("there is no file"))
    let text = try old.run(file: "map.json")
    #expect(text.code == 1 && text.said.contains("is no database of SQLite"))
    try old.write(OldProduct.model.replacing("\"1.0\"", with: "\"2.0\""), "model.json")
    let other = try old.run("--json")
    #expect(other.code == 1 && other.said.contains("is of Visits:1.0, and the model of Visits:2.0"))
    #expect(other.said.contains("\"error\":"))
  }

  @Test("An order that two entries share is refused")
  func sharedOrder() throws {
    try old.enter((1, "{}"), (1, "{}"))
    try old.write(
      OldProduct.mapping.replacing("\"order\": \"id\"", with: "\"order\": \"tx_id\""), "map.json")
    let (code, said) = try old.run()
    #expect(code == 1 && said.contains("two entries of ps_crud have the same tx_id"))
  }

  @Test(
    "What is too large is refused with its limit",
    arguments: [
      (
        "WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 100001) "
          + "INSERT INTO ps_crud (data) SELECT '{}' FROM n", "100001 entries; at most 100000"
      ),
      (
        "WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 17) "
          + "INSERT INTO ps_crud (data) SELECT zeroblob(4194304) FROM n",
        "at most 67108864 are read"
      ),
      ("INSERT INTO ps_crud (data) VALUES (zeroblob(4194305))", "at most 4194304 are read"),
    ])
  func limits(sql: String, said: String) throws {
    try Connection(path: old.path("old.db")).execute(sql)
    let end = try old.run()
    #expect(end.code == 1 && end.said.contains(said), "\(end.said.prefix(500))")
  }

  @Test("A sealed device's database is taken over into with its key, and with no other")
  func sealed() throws {
    let bytes = Array<UInt8>(1...32)
    let sealed = try OldProduct(key: try DatabaseKey(bytes: bytes))
    try sealed.enter((1, #"{"op":"PATCH","type":"notes","id":7,"data":{"text":"seen"}}"#))
    let before = try sealed.bytes("device.db")
    let closed = try sealed.run("--apply")
    #expect(closed.code == 1 && closed.said.contains("key"), "\(closed.said)")
    #expect(try sealed.bytes("device.db") == before)
    try Data(bytes).write(to: sealed.folder.appending(path: "key"))
    let end = try sealed.run("--apply", "--key-file", sealed.path("key"))
    #expect(end.code == 0, "\(end.said)")
    #expect(try sealed.pending("Note") == ["update 7 seen 31"])
  }

  @Test(
    "Entries that are still in the log of the other product's database are read, and it stays as it is"
  )
  func log() throws {
    let open = try Connection(path: old.path("old.db"))
    try open.execute(
      """
      PRAGMA journal_mode = WAL;
      INSERT INTO ps_crud (data) VALUES ('{"op":"PATCH","type":"notes","id":7,"data":{"text":"seen"}}');
      """)
    let before = try old.bytes("old.db", "old.db-wal")
    let end = try old.run("--apply")
    #expect(end.code == 0 && end.said.hasPrefix("1 entry (1 update) taken over."), "\(end.said)")
    #expect(try old.bytes("old.db", "old.db-wal") == before)
    withExtendedLifetime(open) {}
  }
}
