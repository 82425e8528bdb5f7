import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

/// Contacts with a note that stays on the device, and reminders that do altogether.
private struct Contact: BusinessObject {
  static let entity = Entity(
    name: "Contact", table: "contacts",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "name", column: "name", type: .string, isNullable: true),
      Attribute(name: "note", column: "note", type: .string, isNullable: true, isClientOnly: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [.create, .update, .delete],
    partition: nil, group: "default")
  static let reminder = Entity(
    name: "Reminder", table: "reminders",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false, isClientOnly: true),
      Attribute(name: "text", column: "text", type: .string, isNullable: true, isClientOnly: true),
      Attribute(
        name: "place", column: "place", type: .string, isNullable: true, isClientOnly: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [.create, .update, .delete],
    partition: nil, group: "default", isClientOnly: true)
  static let package = Package(
    name: "Contacts", version: "1.0", entities: [entity, reminder],
    groups: [SynchronizationGroup(name: "default")])
  var record: ObjectRecord
  var name: String? {
    get { record.get(1) }
    set { record.set(1, newValue) }
  }
  var note: String? {
    get { record.get(2) }
    set { record.set(2, newValue) }
  }
}

private struct Reminder: BusinessObject {
  static let entity = Contact.reminder
  var record: ObjectRecord
  var text: String? {
    get { record.get(1) }
    set { record.set(1, newValue) }
  }
  var place: String? {
    get { record.get(2) }
    set { record.set(2, newValue) }
  }
}

@Suite("What stays on the device")
struct ClientOnlyTests {
  private let shore = Shore(Contact.package.served)
  private let device: Device

  init() throws {
    device = try Device(Contact.package).loggedIn()
    for id in 1...2 { put(Int64(id), "Ada") }
    try device.exchange(shore)
    for id in [1, 2] as [Int64] {
      var contact = try #require(try self.contact(id))
      contact.note = "likes tea \(id)"
      try contact.update()
    }
    var record = ObjectRecord(Contact.reminder, store: device.store)
    record.set(0, 7 as Int64)
    _ = try PendingStore.save(try record.change(.create), in: device.store)
  }

  private func put(_ id: Int64, _ name: String) {
    let entity = Contact.package.served.entities[0]
    shore.put(entity, [.integer(id), .text(name)])
  }

  private func contact(_ id: Int64) throws -> Contact? {
    try Records(device.store).of(Contact.entity, key: ObjectKey([.integer(id)])).map(
      Contact.init(record:))
  }

  private func reminders() throws -> Int {
    try Records(device.store).all(Contact.reminder, "", []).count
  }

  private func reminder(_ id: Int64) throws -> Reminder? {
    try Records(device.store).of(Contact.reminder, key: ObjectKey([.integer(id)])).map(
      Reminder.init(record:))
  }

  private func remind(_ id: Int64) throws -> Reminder {
    var reminder = Reminder(record: ObjectRecord(Contact.reminder, store: device.store))
    reminder.record.set(0, id)
    try reminder.create()
    return reminder
  }

  @Test("cannot be saved once it was deleted, and says so, as what is served does")
  func savedAfterDelete() throws {
    var copy = try #require(try reminder(7))
    var other = copy
    try other.delete()
    copy.text = "call"
    for save in [{ try copy.update() }, { try copy.save() }, { try copy.delete() }] {
      let error = #expect(throws: FerryError.self) { try save() }
      #expect(error?.code == .objectNotFound && error?.entity == "Reminder")
    }
    #expect(try reminders() == 0)
  }

  @Test("takes from an older copy what was changed in it, and nothing else")
  func olderCopy() throws {
    var copy = try #require(try reminder(7))
    var other = copy
    other.place = "office"
    try other.update()
    copy.text = "call"
    try copy.update()
    let kept = try #require(try reminder(7))
    #expect(kept.text == "call" && kept.place == "office")
    #expect(copy.place == "office")
  }

  @Test("is not given the key of another object, and says whose key it is")
  func keyTaken() throws {
    var second = try remind(8)
    second.record.set(0, 7 as Int64)
    let error = #expect(throws: FerryError.self) { try second.update() }
    #expect(error?.code == .objectExists && error?.attribute == "id")
    #expect(try reminders() == 2)
    second.record.set(0, 9 as Int64)
    try second.update()
    #expect(try reminder(9)?.surrogateKey == second.surrogateKey)
    let again = #expect(throws: FerryError.self) { _ = try remind(9) }
    #expect(again?.code == .objectExists && again?.attribute == "id")
  }

  @Test("is new again where the transaction that created it is undone")
  func undoneCreation() throws {
    var reminder = try remind(8)
    try reminder.delete()
    reminder = Reminder(record: ObjectRecord(Contact.reminder, store: device.store))
    reminder.record.set(0, 10 as Int64)
    try device.store.transaction { () throws(FerryError) in
      try reminder.create()
      try device.store.rollback()
    }
    #expect(reminder.isNew)
    let other = try remind(11)
    reminder.text = "call"
    try reminder.save()
    #expect(try self.reminder(10)?.text == "call")
    #expect(try self.reminder(11)?.text == nil && other.surrogateKey != reminder.surrogateKey)
  }

  @Test("is not lost by a delete that is refused, nor by an import under it")
  func deleteRefused() throws {
    var contact = try #require(try contact(1))
    contact.note = "likes coffee"
    try contact.update()
    try contact.delete()
    #expect(try self.contact(1) == nil)
    put(1, "Ada Lovelace")
    try device.exchange(shore)
    let deleted = try #require(
      try PendingObjects(device.store).all(Contact.entity, nil, .all, skip: 0, take: nil).first)
    var again = Contact(record: deleted)
    try again.submitPending()
    try device.exchange(shore)
    let id = try #require(shore.stored.keys.first)
    put(1, "Countess")
    shore.refuse(id)
    try device.exchange(shore)
    let shown = try #require(try self.contact(1))
    #expect(shown.note == "likes coffee" && shown.name == "Countess" && shown.replayFailed)
  }

  /// A contact with a note whose create is on its way, deleted before the answer.
  private func createAndDelete() throws -> OperationID {
    var record = ObjectRecord(Contact.entity, store: device.store)
    record.set(0, 3 as Int64)
    record.set(1, "Grace")
    record.set(2, "owes me a book")
    var contact = Contact(record: record)
    try contact.create()
    try contact.submitPending()
    try device.exchange(shore)
    let create = try #require(shore.stored.keys.first)
    try contact.refresh()
    try contact.delete()
    #expect(try self.contact(3) == nil)
    return create
  }

  private func submitDelete() throws -> OperationID {
    let known = Set(shore.stored.keys)
    let pending = try PendingObjects(device.store).all(
      Contact.entity, nil, .all, skip: 0, take: nil)
    var deleted = Contact(record: try #require(pending.first))
    try deleted.submitPending()
    try device.exchange(shore)
    return try #require(shore.stored.keys.first { !known.contains($0) })
  }

  private func kept() throws -> Int64? {
    try device.store.read { connection throws(FerryError) in
      try self.device.store.sql { () throws(SQLiteError) in
        try connection.value("SELECT count(*) FROM ferry_kept")?.integer
      }
    }
  }

  @Test(
    "of an object deleted while its create was on its way is shown again when the delete is refused"
  )
  func deletedInFlightRefused() throws {
    shore.accept(try createAndDelete())
    try device.exchange(shore)
    shore.refuse(try submitDelete())
    try device.exchange(shore)
    let shown = try #require(try contact(3))
    #expect(shown.note == "owes me a book" && shown.name == "Grace" && shown.replayFailed)
    #expect(try kept() == 0)
  }

  @Test(
    "is shown again when that delete is cancelled, before the answer or after it",
    arguments: [false, true])
  func deletedInFlightCancelled(afterwards: Bool) throws {
    let create = try createAndDelete()
    if afterwards {
      shore.accept(create)
      try device.exchange(shore)
    }
    let pending = try PendingObjects(device.store).all(
      Contact.entity, nil, .all, skip: 0, take: nil)
    let object = try #require(pending.first?.object)
    _ = try PendingStore.cancel(Contact.entity, object, in: device.store)
    if afterwards {
      #expect(try contact(3)?.note == "owes me a book")
    } else {
      // The create is taken back with it; what the business system has made of it comes back.
      #expect(try contact(3) == nil)
      shore.accept(create)
      try device.exchange(shore)
      #expect(try contact(3)?.name == "Grace")
    }
    #expect(try kept() == 0)
  }

  @Test(
    "is gone with an object whose delete was accepted, or whose create was refused",
    arguments: [false, true])
  func deletedInFlightGone(isRefused: Bool) throws {
    let create = try createAndDelete()
    #expect(try kept() == 1)
    if isRefused {
      shore.refuse(create)
    } else {
      shore.accept(create)
      try device.exchange(shore)
      shore.accept(try submitDelete())
    }
    try device.exchange(shore)
    #expect(try contact(3) == nil)
    #expect(try device.operations().isEmpty)
    #expect(try kept() == 0)
  }

  @Test(
    "cleanAllData(keepClientOnly: true) keeps client-only objects and values",
    .reference("facts/1.4"))
  func cleaned() throws {
    var deleted = try #require(try contact(2))
    try deleted.delete()
    try device.store.cleanAllData(keepsClientOnly: true)
    #expect(try contact(1) == nil)
    #expect(try device.operations().isEmpty)
    #expect(try reminders() == 1)
    try device.exchange(shore)
    for id in [1, 2] as [Int64] {
      #expect(try contact(id)?.note == "likes tea \(id)")
      #expect(try contact(id)?.name == "Ada")
      #expect(try contact(id)?.isPending == false)
    }
    try device.store.cleanAllData()
    try device.exchange(shore)
    #expect(try contact(1)?.note == nil)
    #expect(try reminders() == 0)
  }

  @Test("cleanAllData empties the change log, which tells of nothing that is there")
  func changeLog() throws {
    try device.store.write { connection throws(FerryError) in
      try self.device.store.sql { () throws(SQLiteError) in
        try ChangeLogTable(model: Contact.package).enable(connection)
      }
    }
    var contact = try #require(try contact(1))
    contact.name = "Grace"
    try contact.update()
    try device.store.cleanAllData()
    let count = try device.store.read { connection throws(FerryError) in
      try self.device.store.sql { () throws(SQLiteError) in
        try connection.value("SELECT count(*) FROM ferry_change_log")?.integer
      }
    }
    #expect(count == 0)
  }
}
