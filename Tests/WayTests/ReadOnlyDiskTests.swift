import Ferry
import FerryModel
import FerryWorld
import Testing

extension Way {
  /// A device on a disk that may only be read from before it was opened.
  @Suite struct ReadOnlyDiskTests {
    @Test("A database on a disk that may only be read is told so when it is opened, with the cure")
    func opened() async throws {
      let business = try await Business.flights(bookings: 20)
      guard let disk = try await SmallDisk.memory(business.place, "card", megabytes: 4) else {
        return SmallDisk.tellMissing(.none)
      }
      let entity = try #require(business.package.entity(named: "Bookings"))
      let open = { (name: String) throws(FerryError) in
        try Store(
          path: disk.file(name), model: business.package, world: .system(),
          durability: .application)
      }
      let store = try open("phone.db")
      var record = ObjectRecord(entity, store: store)
      for (name, value) in [
        ("agencyID", AttributeValue.text("AG-01")), ("flightID", .integer(1)),
        ("passenger", .text("Ada")),
        ("cabin", .text("economy")), ("seats", .integer(1)),
      ] { record.values[try #require(entity.position(of: name))] = value }
      _ = try PendingStore.save(try record.change(.create), in: store)
      store.close()
      try await disk.setReadOnly(true)
      for name in ["phone.db", "new.db"] {
        let error = #expect(throws: FerryError.self) { try open(name) }
        #expect(error?.code == .readOnly, "\(name): \(error as Any)")
        #expect(error?.hint.contains(disk.file(name)) == true, "\(error?.hint ?? "")")
        #expect(error?.hint.contains("may not be written") == true, "\(error?.hint ?? "")")
        #expect(error?.isTransient == false)
      }
      try await disk.setReadOnly(false)
      let again = try open("phone.db")
      #expect(try Records(again).all(entity, "", []).map { $0["passenger"] } == [.text("Ada")])
      again.close()
      try open("new.db").close()
    }

    @Test("A folder that is not there is another matter: it is to be made")
    func noFolder() throws {
      let place = try Place()
      let error = #expect(throws: FerryError.self) {
        try Store(
          path: place.file("none/phone.db"),
          model: Package(
            name: "None", version: "1.0", entities: [],
            groups: [SynchronizationGroup(name: "default")]), world: .system(),
          durability: .application)
      }
      #expect(error?.code == .store)
      #expect(error?.hint.contains("exists and may be written") == true, "\(error?.hint ?? "")")
    }
  }
}
