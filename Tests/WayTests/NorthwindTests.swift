import FerryModel
import FerryTestTraits
import Foundation
import Testing

extension Way {
  @Suite struct NorthwindTests {
    @Test(
      "The circle goes round on Northwind, orders partitioned by a claim", .reference("sync/P25"))
    func circle() async throws {
      let (business, isReal) = try await Business.northwind()
      tell(
        isReal
          ? "Northwind: the real one"
          : "Northwind is not beside the checkout: a made database of the same shape stands in")
      let daemon = try await Daemon.start(business)
      let nancy = try await Phone.start(business, "nancy", user: "nancy", daemon.address)
      let steven = try await Phone.start(business, "steven", user: "steven", daemon.address)
      let anne = try await Phone.start(business, "anne", user: "anne", daemon.address)
      try await agree(business, daemon, [nancy, steven], employee: 5)
      try await agree(business, daemon, [anne], employee: 1)
      try await update(business, nancy, steven)
      try await createAndRefuse(business, nancy, steven)
      try await move(business, nancy, anne)
      try await agree(business, daemon, [nancy, steven], employee: 5)
      try await agree(business, daemon, [anne], employee: 1)
    }

    private func agree(
      _ business: Business, _ daemon: Daemon, _ phones: [Phone], employee: Int64
    ) async throws {
      let orders = Set(
        try business.connection().rows("SELECT OrderID FROM Orders WHERE EmployeeID = \(employee)")
          .compactMap { $0[0].integer })
      let byOrder = ["Orders", "OrderDetails"].reduce(into: [String: Int]()) { places, name in
        places[name] = business.package.entity(named: name)?.position(of: "orderID")
      }
      try await Shores.agree(business, daemon, phones) { entity, values in
        guard let position = byOrder[entity] else { return true }
        guard case .integer(let order) = values[position] else { return false }
        return orders.contains(order)
      }
    }

    private func update(_ business: Business, _ nancy: Phone, _ steven: Phone) async throws {
      let key = String(
        try business.value("SELECT OrderID FROM Orders WHERE EmployeeID = 5 ORDER BY 1 LIMIT 1"))
      // It is Kiel, by which `move` knows it.
      try await nancy.update("Orders", key, #"{"shipCity":"Kiel"}"#)
      try await nancy.submit("Orders", key)
      let seconds = try await until("the other device is told") {
        try await steven.text("Orders", key, "shipCity") == "Kiel"
      }
      try await until("it is answered") {
        try await nancy.show("Orders", key)["pending"]?.string == "N"
      }
      tell("Northwind: an update is on the second device after \(seconds) s")
    }

    private func createAndRefuse(
      _ business: Business, _ nancy: Phone, _ steven: Phone
    ) async throws {
      let temporary = try await nancy.create(
        "Orders", #"{"customerID":"NOONE","employeeID":5,"shipCity":"Nirgends"}"#)
      try await nancy.submit("Orders", temporary)
      try await until("the foreign key refuses") {
        try await nancy.show("Orders", temporary)["failed"]?.boolean == true
      }
      let record = try await nancy.logs("Orders", temporary).first
      #expect(record?["code"]?.integer == 412)
      tell("Northwind: the refusal says \(record?["message"]?.string ?? "nothing")")
      try await nancy.update("Orders", temporary, #"{"customerID":"VINET"}"#)
      try await nancy.submit("Orders", temporary)
      try await until("the correction is accepted") {
        try business.value("SELECT count(*) FROM Orders WHERE ShipCity = 'Nirgends'") == 1
      }
      let key = String(
        try business.value("SELECT OrderID FROM Orders WHERE ShipCity = 'Nirgends'"))
      try await until("both have it under its key for good") {
        let own = try await nancy.show("Orders", key)["pending"]?.string
        let other = try await steven.text("Orders", key, "customerID")
        return own == "N" && other == "VINET"
      }
    }

    /// An order that the business gives to another employee changes devices.
    private func move(_ business: Business, _ nancy: Phone, _ anne: Phone) async throws {
      let key = String(
        try business.value("SELECT OrderID FROM Orders WHERE EmployeeID = 5 ORDER BY 1 LIMIT 1"))
      #expect(try await anne.show("Orders", key)["found"]?.boolean == false)
      try business.run("UPDATE Orders SET EmployeeID = 1 WHERE OrderID = \(key)")
      let seconds = try await until("the order is on the other's device") {
        let there = try await anne.text("Orders", key, "shipCity")
        let here = try await nancy.show("Orders", key)["found"]?.boolean
        return there == "Kiel" && here == false
      }
      tell("Northwind: an order moved to another employee's device after \(seconds) s")
    }
  }
}
