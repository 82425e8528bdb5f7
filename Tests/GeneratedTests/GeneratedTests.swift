import Ferry
import FerryTestTraits
import Foundation
import Testing

/// The awkward model goes through the build plugin as an app's would; these call what came out.
struct GeneratedTests {
  private func withDatabase(_ body: (FerryDatabase) throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let database = try Awkward.open(
      at: folder.appending(path: "device.db").path,
      profile: ConnectionProfile(server: "http://127.0.0.1:9"))
    database.submitsAutomatically = false
    do {
      try body(database)
    } catch {
      await database.close()
      throw error
    }
    await database.close()
  }

  @Test(
    "Generated objects keep values of every type that the awkward schema has", .reference("sync/P1")
  )
  func values() async throws {
    try await withDatabase { database in
      var employee = Employees(isActive: true, hired: LocalDate("2024-02-29"), in: database)
      employee.emailAddress = "ada@example.org"
      employee.shift = LocalTime("08:30")
      try employee.create()
      let found = try #require(try Employees.findAll(in: database).first)
      #expect(found.isActive)
      #expect(found.hired?.description == "2024-02-29")
      #expect(found.shift?.description == "08:30:00")
      #expect(found.url == nil)
      #expect(found.isPending)
      var liar = Liars(realInInteger: Decimal(string: "1.50"), blobInText: [0, 255], in: database)
      liar.seconds = LocalDateTime("2024-01-31T10:00:00")
      try liar.create()
      let read = try #require(try Liars.findAll(in: database).first)
      #expect(read.realInInteger == Decimal(string: "1.5"))
      #expect(read.blobInText == [0, 255])
      #expect(read.seconds == liar.seconds)
    }
  }

  @Test("Relationships lead to their objects: by key, by a unique attribute, by two attributes")
  func relationships() async throws {
    try await withDatabase { database in
      var customer = Kunden(kürzel: "ADA", eMail: "ada@example.org", in: database)
      try customer.create()
      var invoice = Invoices(customerID: "ADA", net: 10, in: database)
      try invoice.create()
      var letter = Newsletter(to: "ada@example.org", in: database)
      try letter.create()
      var part = PartList(partNo: "A", rev: 1, in: database)
      try part.create()
      var stock = PartStock(rev: 1, part: "A", shelf: "N12", amount: 4, in: database)
      try stock.create()
      #expect(try invoice.customer()?.eMail == "ada@example.org")
      #expect(try customer.invoices().map(\.net) == [10])
      #expect(try letter.kunden()?.kürzel == "ADA")
      #expect(try stock.partList()?.partNo == "A")
      #expect(try part.partStocks().map(\.amount) == [4])
      #expect(try part.partList() == nil)
    }
  }

  @Test("Each attribute and relationship has a typed name, for queries")
  func typedNames() {
    let shift: AttributeOf<Employees, LocalTime?> = Employees.Attributes.shift
    #expect(Employees.entity.attributes[shift.position].name == shift.name)
    let boss: RelationshipOf<Employees, Employees> = Employees.Attributes.boss
    #expect(boss.inverse == nil)
    #expect(Employees.Attributes.employeesByBoss.inverse == boss.name)
  }

  @Test("Attributes are called as the business calls them: id, description, hash, database, count")
  func freeNames() async throws {
    try await withDatabase { database in
      var names = Names(database: "main", count: 3, id: 7, description: "first", in: database)
      names.hash = "h"
      names.pending = "p"
      names.load = 0.5
      try names.create()
      let found = try #require(
        try Names.find("main", prefetching: [], in: database))
      #expect(found.id == 7 && found.description == "first" && found.hash == "h")
      #expect(found.pending == "p" && found.pendingChange == .create && found.count == 3)
      #expect(found.entity == nil && Names.entity.name == "Names")
      #expect(try Names.count(where: Names.Attributes.count == 3, in: database) == 1)
      #expect(try Names.load("main", in: database) == found)
      #expect(found.debugDescription.contains(#"description: "first""#))
      var other = Class(description: "d", in: database)
      try other.create()
      #expect(try Class.load(other.id, in: database).description == "d")
    }
  }

  @Test(
    "Objects are what lists of views take by the device's key; those with an id of the business by their record's"
  )
  func identifiable() async throws {
    func identity<Row: Identifiable>(_ row: Row) -> Row.ID { row.id }
    try await withDatabase { database in
      var (one, two) = (
        Employees(isActive: true, in: database), Employees(isActive: true, in: database)
      )
      #expect(one == two && identity(one) != identity(two), "new ones are equal and not the same")
      try one.create()
      try two.create()
      #expect(one != two && identity(one) != identity(two))
      var changed = try #require(try Employees.findFirst(in: database))
      #expect(changed == one && identity(changed) == identity(one))
      #expect(changed.hashValue == one.hashValue)
      changed.url = "https://example.org"
      #expect(changed != one, "a view sees the change")
      #expect(identity(changed) == identity(one) && changed.hashValue == one.hashValue)
      #expect(Set([one, two, one]).count == 2)
      // An id that the business system gives is shared by new objects, and is another when it is given.
      var entry = Class(in: database)
      #expect(entry.record.identity != Class(in: database).record.identity)
      try entry.create()
      let read = try #require(try Class.findFirst(in: database))
      #expect(read.record.identity == entry.record.identity)
      #expect((entry as Any) as? any Identifiable == nil)
      #expect((Names(database: "n", count: 1, in: database) as Any) as? any Identifiable == nil)
    }
  }

  @Test("An object tells the debugger what it is, its values and its state")
  func debugDescription() async throws {
    try await withDatabase { database in
      var employee = Employees(isActive: true, url: "a", in: database)
      #expect("\(employee)".hasPrefix("Employees(employeeID: null, bossID: null"))
      #expect(
        "\(employee)".hasSuffix(
          #"url: "a", xmlData: null, hired: null, shift: null, isActive: true) new"#))
      try employee.create()
      #expect(String(reflecting: employee).hasSuffix(") create pending"))
      employee.url = nil
      #expect(String(describing: employee).hasSuffix(") create pending, changed and not saved"))
      try employee.update()
      try employee.submitPending()
      #expect("\(employee)".hasSuffix(") create pending, submitted"))
      var invoice = Invoices(customerID: "x", net: 1, in: database)
      try invoice.create()
      try invoice.delete()
      #expect("\(invoice)".hasSuffix(") deleted"))
    }
  }

  @Test("The generated package is the one that the model says")
  func package() {
    #expect(Awkward.package.id == "Awkward:1.0")
    #expect(Awkward.package.entities.count == 19)
    #expect(Kunden.entity.unique == [[2]])
    #expect(
      Awkward.package.entity(named: "Invoices")?.partition == .through(relationship: "customer"))
  }
}
