import FerryConnector
import FerryMemoryConnector
import FerryModel
import FerryWorld

/// The business of the simulation: customers for everyone, with a note, orders by agency, with a
/// photo and perhaps a customer, lines with their order, tags with their line. Some of its names are
/// canonically equivalent and differ in their bytes: two agencies, two users, two codes of customers.
/// An order refers by a key that the app has given, a line by one that the business system gives, a
/// tag by two attributes of which either may change. Customers have a synchronization group of their
/// own.
///
/// The reference of an order is given once by the app that makes it, so that an order which exists
/// twice is found whatever its keys are.
enum SimulatedBusiness {
  static let customer = Entity(
    name: "Customer", table: "Customer",
    attributes: [
      Attribute(name: "code", column: "code", type: .string, isNullable: false),
      Attribute(name: "name", column: "name", type: .string, isNullable: true),
      Attribute(name: "note", column: "note", type: .bigString, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [.create, .update, .delete],
    partition: nil, group: "names")

  /// The numbers of all agencies in a run.
  static let agencies: [Int64] = [1, 2, 3]

  /// How the business system and the claims call an agency. The second begins with a KELVIN SIGN:
  /// `String` takes it for the first.
  static func name(ofAgency number: Int64) -> String {
    switch number {
    case 1: "K01"
    case 2: "\u{212A}01"
    default: "A0\(number)"
    }
  }

  /// The number of an agency; nil where no agency has these bytes for a name.
  static func agency(named name: String) -> Int64? {
    agencies.first { ExactText(self.name(ofAgency: $0)) == ExactText(name) }
  }

  /// A code that apps give to customers, 0 to 4. The last two are composed and decomposed: `String`
  /// takes one for the other.
  static func code(_ number: Int) -> String {
    switch number {
    case 3: "C\u{E9}"
    case 4: "Ce\u{301}"
    default: "C\(number)"
    }
  }

  static let order = Entity(
    name: "Order", table: "Order",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "agency", column: "agency", type: .string, isNullable: false),
      Attribute(name: "city", column: "city", type: .string, isNullable: true),
      Attribute(name: "seats", column: "seats", type: .long, isNullable: false),
      Attribute(name: "reference", column: "reference", type: .string, isNullable: true),
      Attribute(name: "photo", column: "photo", type: .bigBinary, isNullable: true),
      Attribute(name: "customer", column: "customer", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .businessSystem,
    relationships: [
      Relationship(
        name: "customer", target: "Customer", attributes: ["customer"], targetAttributes: ["code"])
    ],
    operations: [.create, .update, .delete],
    partition: .columns([PartitionColumn(attribute: "agency", source: .claim("agency"))]),
    group: "default")

  static let line = Entity(
    name: "Line", table: "Line",
    attributes: [
      Attribute(name: "orderID", column: "orderID", type: .long, isNullable: false),
      Attribute(name: "number", column: "number", type: .long, isNullable: false),
      Attribute(name: "text", column: "text", type: .string, isNullable: true),
    ], key: [0, 1], keyOrigin: .app,
    relationships: [
      Relationship(
        name: "order", target: "Order", attributes: ["orderID"], targetAttributes: ["id"])
    ], operations: [.create, .update, .delete], partition: .through(relationship: "order"),
    group: "default")

  /// Belongs to a line, not to its order: which order that is shows two references away.
  static let tag = Entity(
    name: "Tag", table: "Tag",
    attributes: [
      Attribute(name: "code", column: "code", type: .string, isNullable: false),
      Attribute(name: "orderID", column: "orderID", type: .long, isNullable: false),
      Attribute(name: "line", column: "line", type: .long, isNullable: false),
      Attribute(name: "text", column: "text", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .app,
    relationships: [
      Relationship(
        name: "line", target: "Line", attributes: ["orderID", "line"],
        targetAttributes: ["orderID", "number"])
    ], operations: [.create, .update, .delete], partition: .through(relationship: "line"),
    group: "default")

  /// Only some seeds have visits: of an agency, and of yesterday, today and tomorrow. Others plan them.
  static let visit = Entity(
    name: "Visit", table: "Visit",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "agency", column: "agency", type: .string, isNullable: false),
      Attribute(name: "day", column: "day", type: .date, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [],
    partition: .columns([PartitionColumn(attribute: "agency", source: .claim("agency"))]),
    group: "default", window: PartitionWindow(attribute: "day", from: -1, to: 1))

  static let package = Package(
    name: "Simulated", version: "1.0", entities: [customer, order, line, tag],
    groups: [SynchronizationGroup(name: "default"), SynchronizationGroup(name: "names")])

  /// The same with visits.
  static let packageWithVisits = Package(
    name: package.name, version: package.version, entities: package.entities + [visit],
    groups: package.groups)

  /// The same package where devices choose the agencies of their orders, among those of the claims.
  /// Without a saved set it is the first one. `isFlawed`: the claims are not asked.
  static func packageByParameter(isFlawed: Bool) -> Package {
    let order = Entity(
      name: order.name, table: order.table, attributes: order.attributes, key: order.key,
      keyOrigin: order.keyOrigin, relationships: order.relationships,
      operations: order.operations,
      partition: .columns([
        PartitionColumn(
          attribute: "agency", source: .parameter("agency", within: isFlawed ? nil : "agency"))
      ]), group: order.group)
    return Package(
      name: package.name, version: package.version, entities: [customer, order, line, tag],
      groups: package.groups,
      parameters: [
        Parameter(name: "agency", type: .string, defaultValue: .text(name(ofAgency: 1)))
      ])
  }

  /// The agencies that these sets of parameters choose, by their texts.
  static func agencies(chosenBy sets: [String?]) -> Set<Int64> {
    guard !sets.isEmpty else { return [1] }
    return Set(sets.compactMap { set in set.map { agency(named: $0) } ?? 1 })
  }

  static let groups: [String] = package.groups.map(\.name)

  /// The synchronization group of an entity.
  static func group(of entity: String) -> String {
    packageWithVisits.entity(named: entity)?.group ?? ""
  }

  /// A transaction that somebody else commits while an operation is performed: an order goes to
  /// another agency, gets other seats, or a tag goes to another line. Often it is an order that
  /// decides whose the changed row is.
  static func overlapping(
    _ chance: SeededChance, _ held: Set<MemoryRowName>
  ) -> MemoryChange {
    let judged = held.filter { $0.entity == "Order" }.map(\.key).min { $0.text < $1.text }
    let meant = chance.happens(500) ? judged : nil
    let (choice, place) = (chance.number(below: 6), chance.number(below: 1_000))
    let number = Int64(chance.number(below: 9))
    return { transaction in
      let orders = transaction.rows(of: "Order").sorted { $0.key.text < $1.key.text }
      guard !orders.isEmpty else { return }
      var (key, values) = orders.first { $0.key == meant } ?? orders[place % orders.count]
      switch choice {
      case 0: values[3] = .integer(number)
      case 1:
        let lines = transaction.rows(of: "Line").sorted { $0.key.text < $1.key.text }
        let tags = transaction.rows(of: "Tag").sorted { $0.key.text < $1.key.text }
        guard !lines.isEmpty, !tags.isEmpty else { return }
        let line = lines[place % lines.count].value
        var (tag, text) = tags[Int(number) % tags.count]
        (text[1], text[2]) = (line[0], line[1])
        return transaction.write("Tag", tag, text)
      default: values[1] = .text(name(ofAgency: number % 3 + 1))
      }
      transaction.write("Order", key, values)
    }
  }

  private static func flaws(_ planted: Set<PlantedBug>) -> Set<MemoryFlaw> {
    let flaws: [PlantedBug: MemoryFlaw] = [
      .captureAfterCompare: .notesAfterComparison, .oldKeyUnseen: .oldKeyUnnoted,
      .recallTooEarly: .recallTooEarly, .markIgnored: .markIgnored,
      .refusedThenPerformed: .leaderUnchecked,
    ]
    return Set(planted.compactMap { flaws[$0] })
  }

  /// No order has more than nine seats, and a city is written in capitals by the business itself.
  ///
  /// `remembers`: whether it knows an operation again; without that an outcome may stay unknown.
  static func make(
    _ package: Package, remembers: Bool, isTransactional: Bool, notesChanges: Bool,
    contents: MadeContents, planted: Set<PlantedBug>
  ) -> MemoryBusiness {
    let rule = MemoryRule { effect, transaction in
      guard effect.entity == "Order", let after = effect.after else { return nil }
      if case .integer(let seats) = after[3], seats > 9 {
        return FerryConnector.Refusal(
          code: 412, message: "An order has at most nine seats", attribute: "seats")
      }
      if case .text(let city) = after[2], city != city.uppercased() {
        var values = after
        values[2] = .text(city.uppercased())
        transaction.write("Order", effect.key, values)
      }
      return nil
    }
    let business = MemoryBusiness(
      package: package, rules: [rule], isTransactional: isTransactional,
      remembersOperations: remembers, holdsJudgedRows: !planted.contains(.rowsNotHeld),
      notesChanges: notesChanges, flaws: flaws(planted))
    func kept(_ number: Int64) -> AttributeValue {
      let bytes = [UInt8](repeating: UInt8(48 + number), count: Int(number) * 20)
      return business.keep(content: contents.add(bytes))
    }
    for number: Int64 in 1...3 {
      let note: AttributeValue = number == 2 ? kept(7 - number) : .null
      business.insert("Customer", [[.text("C\(number)"), .text("Customer \(number)"), note]])
    }
    for number: Int64 in 1...6 {
      let agency = name(ofAgency: number % 3 + 1)
      let photo: AttributeValue = number % 2 == 0 ? kept(number) : .null
      business.insert(
        "Order",
        [
          [
            .integer(number), .text(agency), .text("BONN"), .integer(1), .null, photo,
            number > 3 ? .null : .text("C\(number)"),
          ]
        ])
    }
    business.insert("Line", (1...6).map { [.integer(Int64($0)), .integer(1), .text("first")] })
    business.insert(
      "Tag", (1...4).map { [.text("T\($0)"), .integer(Int64($0)), .integer(1), .text("tag")] })
    return business
  }
}
