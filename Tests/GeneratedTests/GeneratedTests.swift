import Ferry
import Foundation
import Testing

/// The awkward model goes through the build plugin as an app's would; these call what came out.
struct GeneratedTests {
  private func withDatabase(_ body: (Database) throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let database = try Awkward.open(
      at: folder.appending(path: "device.db").path,
      profile: ConnectionProfile(server: "http://127.0.0.1:9"))
    do {
      try body(database)
    } catch {
      await database.close()
      throw error
    }
    await database.close()
  }

  @Test("Generated objects keep values of every type that the awkward schema has (sync/P1)")
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
      #expect(try part.partStock().map(\.amount) == [4])
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

  @Test("The generated package is the one that the model says")
  func package() {
    #expect(Awkward.package.id == "Awkward:1.0")
    #expect(Awkward.package.entities.count == 18)
    #expect(Kunden.entity.unique == [[2]])
    #expect(
      Awkward.package.entity(named: "Invoices")?.partition == .through(relationship: "customer"))
  }
}
