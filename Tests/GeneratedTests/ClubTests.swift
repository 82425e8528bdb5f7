import Ferry
import FerryReference
import FerryTestTraits
import Foundation
import Testing

/// The club's model goes through the build plugin; these call every kind of thing that came out.
struct ClubTests {
  private func withDatabase(_ body: (FerryDatabase) throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let database = try Club.open(
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

  @Test("A value of every type is kept exactly: 38 digits, whole numbers of any size, lists, parts")
  func everyType() async throws {
    try await withDatabase { database in
      let fee = try #require(Decimal(string: "-12345678901234567890123456789012345.678"))
      let home = Address(
        street: "Kai 1", phones: ["+49 1", ""], zip: "24\"103", since: LocalDate("2020-02-29"),
        rent: Decimal(string: "0.10"))
      var member = Member(name: "Ada", in: database)
      member.floor = -128
      member.locker = 32_767
      member.visits = -5
      member.points = 123_456_789_012_345_678_901_234_567_890
      member.fee = fee
      member.height = 1.75
      member.weight = 61.3
      member.born = LocalDate("1815-12-10")
      member.wakes = LocalTime("06:00:00.25")
      member.joined = LocalDateTime("2024-01-31T10:00:00")
      member.photo = [0, 255, 1]
      member.tags = ["a", "b,\"c\"", "ü"]
      member.scores = [Decimal(string: "1.5") ?? 0, 2]
      member.address = home
      member.others = [home, Address(street: "", phones: [])]
      try member.create()
      let read = try Member.load(key: member.record.key, in: database)
      #expect(read.floor == -128 && read.locker == 32_767 && read.visits == -5)
      #expect(read.points?.description == "123456789012345678901234567890")
      #expect(read.fee == fee && read.height == 1.75 && read.weight == 61.3)
      #expect(read.born == member.born && read.wakes == member.wakes)
      #expect(read.joined == member.joined && read.photo == [0, 255, 1])
      #expect(read.tags == member.tags && read.scores == member.scores)
      #expect(read.address == home && read.others == member.others)
    }
  }

  @Test("A part that is longer than its type allows is refused as an attribute is, with its place")
  func limitsOfParts() async throws {
    try await withDatabase { database in
      var member = Member(name: "Ada", in: database)
      try member.create()
      var address = Address(street: "Kai 1", phones: [], zip: "123456789")
      member.address = address
      let long = #expect(throws: FerryError.self) { try member.update() }
      #expect(long?.code == .invalidValue && long?.entity == "Member")
      #expect(long?.attribute == "address.zip")
      #expect(
        long?.message == "Member.address.zip cannot be saved: 9 characters are more than 8")
      #expect(long?.hint == "Shorten it to 8 characters and save again.")
      address.zip = "12345678"
      member.address = address
      for (rent, cure) in [
        ("0.125", "Round it to 2 digits behind the point and save again."),
        ("12345", "Set a smaller number and save again."),
        ("NaN", "Set a number with fewer digits and save again."),
      ] {
        address.rent = rent == "NaN" ? .nan : Decimal(string: rent)
        member.others = [Address(street: "", phones: []), address]
        let error = #expect(throws: FerryError.self) { try member.update() }
        #expect(error?.attribute == "others[1].rent" && error?.hint == cure)
      }
      #expect(try Member.load(key: member.record.key, in: database).address == nil)
      address.rent = Decimal(string: "-1234.56")
      member.others = [address]
      try member.update()
      let read = try Member.load(key: member.record.key, in: database)
      #expect(read.address?.zip == "12345678" && read.others == [address])
    }
  }

  @Test(
    "A big value of generated code is a handle, not loaded with its object", .reference("facts/1.5")
  )
  func bigValues() async throws {
    try await withDatabase { database in
      var member = Member(name: "Ada", in: database)
      try member.create()
      var contract = Contract(memberID: member.memberID, in: database)
      try contract.create()
      try contract.scan.write([1, 2, 3])
      try contract.terms.write("änderbar")
      let read = try Contract.load(member.memberID, in: database)
      #expect(try read.scan.length == 3)
      #expect(try read.terms.length == 9)
    }
  }

  @Test("A new object has the model's defaults, and what the app gives instead")
  func defaults() async throws {
    try await withDatabase { database in
      let plain = Member(name: "Ada", in: database)
      #expect(plain.status == "new" && plain.isActive && plain.visits == 0 && plain.tags == [])
      #expect(plain.fee == Decimal(string: "12.5") && plain.isOpen == false)
      let given = Member(name: "Bob", status: "old", isActive: false, fee: 1, in: database)
      #expect(given.status == "old" && !given.isActive && given.fee == 1)
    }
  }

  @Test("A key that the device makes is there at once, and is final")
  func deviceKeys() async throws {
    try await withDatabase { database in
      var team = Team(name: "Blue", in: database)
      try team.create()
      #expect(UUID(uuidString: team.teamID) != nil)
      #expect(try Team.find(team.teamID, in: database)?.name == "Blue")
      #expect(try Team.findByPrimaryKey(team.record.key, in: database)?.name == "Blue")
    }
  }

  @Test("Setters refer to another object; one to one gives one, one to many all")
  func relationships() async throws {
    try await withDatabase { database in
      var team = Team(name: "Blue", in: database)
      try team.create()
      var member = Member(name: "Ada", in: database)
      try member.setTeam(team)
      try member.create()
      #expect(try member.team()?.teamID == team.teamID)
      #expect(try team.members().map(\.name) == ["Ada"])
      var contract = Contract(memberID: member.memberID, text: "one year", in: database)
      try contract.create()
      #expect(try member.contract()?.text == "one year")
      #expect(member.isCreated && !member.isUpdated)
      try member.setTeam(nil)
      try member.update()
      #expect(try member.team() == nil && team.members().isEmpty)
    }
  }

  @Test(
    "To refer to an object that has no key yet is an error, and changes nothing",
    .reference("facts/1.5"))
  func refersToNew() async throws {
    try await withDatabase { database in
      var team = Team(name: "Blue", in: database)
      try team.create()
      var member = Member(name: "Ada", in: database)
      try member.setTeam(team)
      let new = Team(name: "Red", in: database)
      let error = #expect(throws: FerryError.self) { try member.setTeam(new) }
      #expect(error?.code == .objectNotSaved)
      #expect(error?.entity == "Member" && error?.attribute == "team")
      #expect(error?.message == "Member.team cannot refer to a Team without teamID")
      #expect(member.teamID == team.teamID)
    }
  }

  @Test("What an object owns one to one is deleted with it", .reference("facts/1.5"))
  func cascade() async throws {
    try await withDatabase { database in
      var members: [Member] = []
      for name in ["Ada", "Bob"] {
        var member = Member(name: name, in: database)
        try member.create()
        var contract = Contract(memberID: member.memberID, text: name, in: database)
        try contract.create()
        members.append(member)
      }
      try members[0].delete()
      #expect(try Contract.findAll(in: database).map(\.text) == ["Bob"])
      #expect(try members[1].contract()?.text == "Bob")
    }
  }

  @Test(
    "The model's queries read relationships together with their objects", .reference("facts/1.5"))
  func prefetching() async throws {
    try await withDatabase { database in
      var team = Team(name: "Blue", in: database)
      try team.create()
      for name in ["Ada", "Bob"] {
        var member = Member(name: name, born: LocalDate("1900-01-01"), in: database)
        try member.setTeam(team)
        try member.create()
      }
      let found = try Member.findByStatus(
        "new", prefetching: [Member.Attributes.team], in: database)
      let oldest = try Member.findOldest(prefetching: [Member.Attributes.team], in: database)
      // What was read with them is what they show, also when the team is gone since.
      try team.delete()
      #expect(try found.map { try $0.team()?.name } == ["Blue", "Blue"])
      #expect(try oldest?.team()?.name == "Blue")
      #expect(try Member.findOldest(in: database)?.team() == nil)
    }
  }

  @Test("The model's queries are functions with typed parameters, pages and an order")
  func queries() async throws {
    try await withDatabase { database in
      for (name, born, visits) in [("Ada", "1815-12-10", 3), ("Bob", "1900-01-01", 9)] {
        var member = Member(name: name, visits: Int32(visits), born: LocalDate(born), in: database)
        try member.create()
      }
      #expect(try Member.findByStatus("new", in: database).map(\.name) == ["Ada", "Bob"])
      #expect(try Member.findByStatus("new", skip: 1, in: database).map(\.name) == ["Bob"])
      #expect(try Member.findByStatus("new' OR 1=1 --", in: database).isEmpty)
      #expect(try Member.findOldest(in: database)?.name == "Ada")
      #expect(try Member.findRich(4, status: nil, in: database).map(\.name) == ["Bob"])
      #expect(try Member.findRich(1, status: "old", in: database).isEmpty)
    }
  }

  @Test(
    "The model's queries compare and sort decimals and unbounded integers as numbers",
    .reference("facts/1.2"))
  func numbers() async throws {
    try await withDatabase { database in
      let made: [(String, Decimal, BigInteger?)] = [
        ("Ada", 9, 9), ("Bob", 100.5, 100), ("Cy", 10, nil), ("Dan", 10.25, 10),
        ("Eve", -3, 7), ("Fay", 12.5, 7), ("Gus", 12.5, 80),
      ]
      for (name, fee, points) in made {
        var member = Member(name: name, fee: fee, in: database)
        member.points = points
        try member.create()
      }
      let dear = try Member.findByFee(10, in: database)
      #expect(dear.map(\.name) == ["Bob", "Fay", "Gus", "Dan", "Ada"])
      let pages = try [0, 2, 4].flatMap {
        try Member.findByFee(10, skip: $0, take: 2, in: database)
      }
      #expect(pages.map(\.name) == dear.map(\.name))
      #expect(try Member.findByPoints(80, in: database).map(\.name) == ["Fay", "Gus"])
    }
  }

  @Test("What stays on the device is saved at once and never pending; the rest of the object is")
  func clientOnly() async throws {
    try await withDatabase { database in
      var member = Member(name: "Ada", in: database)
      try member.create()
      var reminder = Reminder(text: "call", in: database)
      try reminder.setMember(member)
      try reminder.create()
      reminder.text = "call again"
      try reminder.update()
      #expect(!reminder.isPending && !reminder.isDirty)
      #expect(try Reminder.findAll(in: database).map(\.text) == ["call again"])
      #expect(try member.reminders().count == 1)
      let counter = member.replayCounter
      member.draft = "half a sentence"
      member.isOpen = true
      try member.update()
      #expect(member.draft == "half a sentence" && member.isOpen && member.replayCounter == counter)
      try reminder.delete()
      #expect(try Reminder.count(in: database) == 0 && !reminder.isPending && reminder.isDeleted)
      try member.cancelPending()
      #expect(try !database.hasPendingOperations)
    }
  }

  @Test("An operation of the business system is an object that is created and submitted")
  func operation() async throws {
    try await withDatabase { database in
      var member = Member(name: "Ada", in: database)
      try member.create()
      var promote = Promote(memberID: member.memberID, status: "gold", in: database)
      try promote.create()
      try promote.submitPending()
      #expect(promote.isCreated && promote.replayPending == promote.replayCounter)
      try member.submitPending()
      #expect(member.replayPending == member.replayCounter)
      #expect(throws: FerryError.self) { try promote.delete() }
    }
  }

  @Test("A value that is too long, and one that is missing, name entity, attribute and cure")
  func badValues() async throws {
    try await withDatabase { database in
      var member = Member(name: String(repeating: "x", count: 41), in: database)
      let long = #expect(throws: FerryError.self) { try member.create() }
      #expect(long?.entity == "Member" && long?.attribute == "name")
      #expect(long?.hint == "Shorten it to 40 characters and save again.")
      member.name = "Ada"
      member.fee = Decimal.nan
      let wrong = #expect(throws: FerryError.self) { try member.create() }
      #expect(
        wrong?.attribute == "fee" && wrong?.hint == "Set a value of that type and save again.")
      member.fee = 1
      try member.create()
      var team = Team(name: "Blue", in: database)
      try team.create()
      var visit = Visit(
        memberID: member.memberID, day: try #require(LocalDate("2024-02-29")), in: database)
      visit.record = ObjectRecord(Visit.entity, in: database)
      let missing = #expect(throws: FerryError.self) { try visit.create() }
      #expect(missing?.entity == "Visit" && missing?.attribute == "memberID")
    }
  }

  @Test("Whole numbers of any size compare as numbers do")
  func bigIntegers() {
    let numbers: [BigInteger] = [
      -100_000_000_000_000_000_000, -9, 0, 7, 10, 18_446_744_073_709_551_616,
    ]
    #expect(numbers.shuffled().sorted() == numbers)
    #expect(numbers[0].description == "-100000000000000000000")
    #expect(numbers[5].description == "18446744073709551616" && Int64(exactly: numbers[5]) == nil)
    #expect(Int64(exactly: numbers[1]) == -9 && BigInteger("1.5") == nil && BigInteger("007") == 7)
    #expect(BigInteger(UInt64.max).description == "18446744073709551615")
  }
}
