import FerryConnector
import FerryMemoryConnector
import FerryModel

/// The business of the simulation: customers for everyone, orders by agency, lines with their order.
enum SimulatedBusiness {
  static let customer = Entity(
    name: "Customer", table: "Customer",
    attributes: [
      Attribute(name: "code", column: "code", type: .string, isNullable: false),
      Attribute(name: "name", column: "name", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [.create, .update, .delete],
    partition: nil, group: "default")

  static let order = Entity(
    name: "Order", table: "Order",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "agency", column: "agency", type: .long, isNullable: false),
      Attribute(name: "city", column: "city", type: .string, isNullable: true),
      Attribute(name: "seats", column: "seats", type: .long, isNullable: false),
    ], key: [0], keyOrigin: .businessSystem, relationships: [],
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

  static let package = Package(
    name: "Simulated", version: "1.0", entities: [customer, order, line],
    groups: [SynchronizationGroup(name: "default")])

  /// No order has more than nine seats, and a city is written in capitals by the business itself.
  static func make() -> MemoryBusiness {
    let rule = MemoryRule { effect, transaction in
      guard effect.entity == "Order", let after = effect.after else { return nil }
      if case .integer(let seats) = after[3], seats > 9 {
        return Refusal(code: 412, message: "An order has at most nine seats", attribute: "seats")
      }
      if case .text(let city) = after[2], city != city.uppercased() {
        var values = after
        values[2] = .text(city.uppercased())
        transaction.write("Order", effect.key, values)
      }
      return nil
    }
    let business = MemoryBusiness(package: package, rules: [rule])
    business.insert("Customer", (1...3).map { [.text("C\($0)"), .text("Customer \($0)")] })
    business.insert(
      "Order",
      (1...6).map {
        [.integer(Int64($0)), .integer(Int64($0 % 2 + 1)), .text("BONN"), .integer(1)]
      })
    business.insert("Line", (1...6).map { [.integer(Int64($0)), .integer(1), .text("first")] })
    return business
  }
}
