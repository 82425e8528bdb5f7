import FerryGenerator
import FerryModel
import Testing

/// What devices get and may write where nobody said so.
struct ClosedTests {
  private func made(
    _ sql: String, partitions: [String] = [], writable: [String] = [], kept: [String] = []
  ) throws -> ModelMaker.Result {
    let database = try FixtureDatabase(sql)
    return try ModelMaker.make(
      fromSQLite: database.path,
      options: TranslationOptions(
        name: "shop", partitions: try partitions.map(PartitionRequest.init),
        writable: .init(writable), kept: .init(kept)), file: "model.json")
  }

  private static let shop = """
    CREATE TABLE Orders (n INTEGER PRIMARY KEY, clerk TEXT NOT NULL);
    CREATE TABLE Lines (n INTEGER PRIMARY KEY, order_n INTEGER NOT NULL REFERENCES Orders);
    CREATE TABLE Staff (
      n INTEGER PRIMARY KEY, login TEXT, passwordHash TEXT, password_hint TEXT, salary REAL,
      API_TOKEN TEXT, authtoken TEXT, iban TEXT, ssn TEXT, hashtag TEXT, lesson TEXT);
    """

  @Test("A table without a partition rule is read-only; one with a rule, and what follows, is not")
  func readOnly() throws {
    let made = try made(Self.shop, partitions: ["Orders=clerk:claim:clerk"])
    let package = made.translation.package
    let all = Set(OperationKind.allCases)
    #expect(package.entity(named: "Orders")?.operations == all)
    #expect(package.entity(named: "Lines")?.operations == all)
    #expect(package.entity(named: "Staff")?.operations == [])
    let notes = made.translation.notes(.restricted).filter { $0.subject == "Staff" }
    #expect(
      notes.map(\.what) == [
        "has no partition rule: every user gets its rows, and no user may change them"
      ])
    #expect(made.openings == [])
  }

  @Test("What the author opens by name can be written by everyone, and the check warns of it")
  func opened() throws {
    for words in [["all"], ["staff,Orders"], ["Staff", "lines", "orders"]] {
      let made = try made(Self.shop, writable: words)
      let package = made.translation.package
      #expect(package.entity(named: "Staff")?.operations == Set(OperationKind.allCases))
      #expect(
        made.openings.contains {
          $0.what == "every user may create, update and delete every Staff"
            && $0.severity == .warning
        }, "\(made.openings)")
      #expect(made.warnings == [])
    }
    let some = try made(Self.shop, writable: ["Staff"]).translation.package
    #expect(some.entity(named: "Orders")?.operations == [])
  }

  @Test("A name that opens nothing is refused with the nearest one")
  func slips() throws {
    #expect(throws: GeneratorError.self) { try made(Self.shop, writable: ["Staf"]) }
    #expect(throws: GeneratorError.self) { try made(Self.shop, kept: ["Staff.salry"]) }
    do throws(GeneratorError) {
      let database = try! FixtureDatabase(Self.shop)
      _ = try ModelMaker.make(
        fromSQLite: database.path,
        options: TranslationOptions(name: "shop", kept: .these(["Staff.salry"])), file: "m")
      Issue.record("not refused")
    } catch {
      #expect(error.description.contains("Staff.salary"), "\(error)")
    }
  }

  @Test("Columns with names of secrets stay in the business system, each with a note")
  func secrets() throws {
    let made = try made(Self.shop)
    let staff = try #require(made.translation.package.entity(named: "Staff"))
    #expect(staff.attributes.map(\.column) == ["n", "login", "hashtag", "lesson"])
    let notes = made.translation.notes(.leftOut).filter { $0.what.contains("looks like a secret") }
    #expect(
      notes.map(\.subject) == [
        "Staff.passwordHash", "Staff.password_hint", "Staff.salary", "Staff.API_TOKEN",
        "Staff.authtoken", "Staff.iban", "Staff.ssn",
      ])
    #expect(notes.allSatisfy { $0.cure.contains("--keep") })
  }

  @Test("A column that looks like a secret is taken where the author names it")
  func kept() throws {
    let some = try made(Self.shop, kept: ["staff.SALARY"]).translation.package
    #expect(
      some.entity(named: "Staff")?.attributes.map(\.column)
        == ["n", "login", "salary", "hashtag", "lesson"])
    let all = try made(Self.shop, kept: ["all"]).translation.package
    #expect(all.entity(named: "Staff")?.attributes.count == 11)
  }

  @Test("A key that looks like a secret is kept, for nothing else tells the rows apart, and told")
  func secretKey() throws {
    let made = try made("CREATE TABLE Visits (token TEXT PRIMARY KEY NOT NULL, at TEXT)")
    let visits = try #require(made.translation.package.entity(named: "Visits"))
    #expect(visits.attributes.map(\.column) == ["token", "at"])
    #expect(
      made.translation.notes(.told).contains {
        $0.subject == "Visits.token" && $0.what.contains("part of the key")
      })
  }

  @Test("Where a secret is needed by every new row, devices create none")
  func needed() throws {
    let sql = "CREATE TABLE Users (n INTEGER PRIMARY KEY, password TEXT NOT NULL)"
    let package = try made(sql, writable: ["Users"]).translation.package
    #expect(package.entity(named: "Users")?.operations == [.update, .delete])
  }

  @Test("An operation of the business system that everyone may perform is warned of")
  func performed() throws {
    let text = """
      {"name": "A", "version": "1.0", "entities": [
        {"name": "Close", "attributes": [{"name": "n", "type": "string"}], "key": ["n"],
         "keyOrigin": "device", "performs": ["UPDATE t SET a = 1 WHERE n = :n"]}]}
      """
    let reading = ModelReader.read(Array(text.utf8), file: "model.json")
    #expect(reading.errors == [])
    #expect(reading.openings.map(\.what) == ["every user may perform Close, with any values"])
  }
}

@Suite("Roles in generated code") struct RoleRenderingTests {
  @Test("The generated entity says the roles of its model")
  func rendered() throws {
    let text = """
      { "name": "Shop", "version": "1.0", "roles": ["sales", "boss"], "entities": [
        { "name": "Sale", "attributes": [{ "name": "id", "type": "long" }], "key": ["id"],
          "roles": { "delete": ["boss"], "read": ["sales", "boss"] } },
        { "name": "Note", "attributes": [{ "name": "id", "type": "long" }], "key": ["id"] }] }
      """
    let package = try #require(ModelReader.read(Array(text.utf8), file: "shop.json").package)
    func code(_ entity: Int) -> String {
      SwiftRenderer.render(package.entities[entity], of: package, from: "shop.json")
    }
    #expect(
      code(0).contains(
        #"roles: FerryModel.EntityRoles([.read: ["sales", "boss"], .delete: ["boss"]]))"#))
    #expect(!code(1).contains("EntityRoles"))
  }
}
