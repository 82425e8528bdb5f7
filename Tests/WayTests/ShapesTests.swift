import FerryJSON
import FerryModel
import Testing

extension Way {
  /// What a newcomer tries first: a sample database that everybody knows, `ferry new`, a device.
  @Suite struct ShapesTests {
    @Test("In the shape of Chinook: drafts get their keys, decimals are exact, a check refuses")
    func chinook() async throws {
      let business = try await Business.shaped(
        "chinook", partition: "Customer=SupportRepId:claim:employee",
        users: [
          .init("jane", #"{"employee":[3]}"#), .init("otto", #"{"employee":[3]}"#),
          .init("mark", #"{"employee":[4]}"#),
        ])
      let daemon = try await Daemon.start(business)
      let jane = try await Phone.start(business, "jane", user: "jane", daemon.address)
      let otto = try await Phone.start(business, "otto", user: "otto", daemon.address)
      let mark = try await Phone.start(business, "mark", user: "mark", daemon.address)
      try await agree(business, daemon, [jane, otto], employee: 3)
      try await agree(business, daemon, [mark], employee: 4)
      let invoice = try await sell(business, jane, otto)
      try await refuse(business, jane, otto, invoice: invoice)
      #expect(try await mark.show("Invoice", invoice)["found"]?.boolean == false)
      try await agree(business, daemon, [jane, otto], employee: 3)
      try await agree(business, daemon, [mark], employee: 4)
    }

    private func agree(
      _ business: Business, _ daemon: Daemon, _ phones: [Phone], employee: Int64
    ) async throws {
      func keys(_ sql: String) throws -> Set<Int64> {
        Set(try business.connection().rows(sql).compactMap { $0[0].integer })
      }
      let mine = "FROM Customer WHERE SupportRepId = \(employee)"
      let customers = try keys("SELECT CustomerId \(mine)")
      let invoices = try keys(
        "SELECT InvoiceId FROM Invoice WHERE CustomerId IN (SELECT CustomerId \(mine))")
      try await Shores.agree(business, daemon, phones) { entity, values in
        switch (entity, values[0], values[1]) {
        case ("Customer", .integer(let key), _): customers.contains(key)
        case ("Invoice", .integer(let key), _): invoices.contains(key)
        case ("InvoiceLine", _, .integer(let invoice)): invoices.contains(invoice)
        default: true
        }
      }
    }

    /// An invoice with two lines, made before anybody has given it a key. Gives its key.
    private func sell(
      _ business: Business, _ jane: Phone, _ otto: Phone
    ) async throws -> String {
      let customer = try business.value(
        "SELECT min(CustomerId) FROM Customer WHERE SupportRepId = 3")
      let draft = try await jane.create(
        "Invoice",
        #"{"customerId":\#(customer),"invoiceDate":"2026-01-05T10:00:00","total":8.91}"#)
      for track in [7, 8] {
        _ = try await jane.create(
          "InvoiceLine",
          #"{"invoiceId":\#(draft),"trackId":\#(track),"unitPrice":0.99,"quantity":1}"#)
      }
      try await jane.ask(#"["submitAll"]"#)
      try await until("the invoice and its lines are in the business database") {
        try business.value(
          """
          SELECT count(*) FROM InvoiceLine JOIN Invoice USING (InvoiceId)
          WHERE InvoiceDate LIKE '2026-01-05%'
          """) == 2
      }
      let key = String(
        try business.value("SELECT InvoiceId FROM Invoice WHERE InvoiceDate LIKE '2026-01-05%'"))
      try await until("both devices have it under its key") {
        let own = try await jane.show("Invoice", key)["pending"]?.string
        let total = try await otto.text("Invoice", key, "total")
        return own == "N" && total == "8.91"
      }
      return key
    }

    /// A line of nothing is refused, and goes when it is corrected; a track that is needed stays.
    private func refuse(
      _ business: Business, _ jane: Phone, _ otto: Phone, invoice: String
    ) async throws {
      let line = try await jane.create(
        "InvoiceLine", #"{"invoiceId":\#(invoice),"trackId":9,"unitPrice":1.99,"quantity":0}"#)
      try await jane.submit("InvoiceLine", line)
      try await until("the check refuses it") {
        try await jane.show("InvoiceLine", line)["failed"]?.boolean == true
      }
      #expect(try await jane.logs("InvoiceLine", line).first?["attribute"]?.string == "quantity")
      try await jane.update("InvoiceLine", line, #"{"quantity":2}"#)
      try await jane.submit("InvoiceLine", line)
      try await until("the corrected line is there") {
        try business.value(
          "SELECT count(*) FROM InvoiceLine WHERE InvoiceId = \(invoice) AND Quantity = 2") == 1
      }
      let needed = String(try business.value("SELECT min(TrackId) FROM PlaylistTrack"))
      try await otto.ask(#"["delete","Track","[\#(needed)]"]"#)
      try await otto.submit("Track", needed)
      try await until("the foreign keys keep the track") {
        try await otto.logs("Track", needed).first?["code"]?.integer == 412
      }
      try await otto.ask(#"["cancel","Track","[\#(needed)]"]"#)
      #expect(try await otto.show("Track", needed)["found"]?.boolean == true)
    }

    @Test("In the shape of Sakila: triggers, a unique index and a row that moves to another store")
    func sakila() async throws {
      let business = try await Business.shaped(
        "sakila", partition: "customer=store_id:claim:store",
        users: [
          .init("mia", #"{"store":[1]}"#), .init("max", #"{"store":[1]}"#),
          .init("jon", #"{"store":[2]}"#),
        ])
      let daemon = try await Daemon.start(business)
      let mia = try await Phone.start(business, "mia", user: "mia", daemon.address)
      let max = try await Phone.start(business, "max", user: "max", daemon.address)
      let jon = try await Phone.start(business, "jon", user: "jon", daemon.address)
      try await stores(business, daemon, [mia, max], store: 1)
      try await bringBack(business, mia, max)
      try await rentTwice(business, mia)
      let moved = String(
        try business.value("SELECT min(customer_id) FROM customer WHERE store_id = 1"))
      try business.run("UPDATE customer SET store_id = 2 WHERE customer_id = \(moved)")
      try await until("the customer is on the other store's device") {
        let here = try await mia.show("Customer", moved)["found"]?.boolean
        let there = try await jon.show("Customer", moved)["found"]?.boolean
        return here == false && there == true
      }
      try await stores(business, daemon, [mia, max], store: 1)
      try await stores(business, daemon, [jon], store: 2)
    }

    private func stores(
      _ business: Business, _ daemon: Daemon, _ phones: [Phone], store: Int64
    ) async throws {
      let customers = Set(
        try business.connection().rows(
          "SELECT customer_id FROM customer WHERE store_id = \(store)"
        ).compactMap { $0[0].integer })
      let places = ["Customer", "Rental", "Payment"].reduce(into: [String: Int]()) { places, name in
        places[name] = business.package.entity(named: name)?.position(of: "customerID")
      }
      try await Shores.agree(business, daemon, phones) { entity, values in
        guard let place = places[entity] else { return true }
        guard case .integer(let customer) = values[place] else { return false }
        return customers.contains(customer)
      }
    }

    private static let ofStore: String =
      "FROM rental JOIN customer USING (customer_id) WHERE store_id = 1"

    /// What a trigger of the database writes beside the change comes to the devices with it.
    private func bringBack(_ business: Business, _ mia: Phone, _ max: Phone) async throws {
      let rental = String(try business.value("SELECT min(rental_id) \(ShapesTests.ofStore)"))
      try await mia.update("Rental", rental, #"{"returnDate":"2026-01-01T09:00:00"}"#)
      try await mia.submit("Rental", rental)
      try await until("both devices see what the trigger wrote") {
        let own = try await mia.text("Rental", rental, "lastUpdate")
        let other = try await max.text("Rental", rental, "lastUpdate")
        return own == "2026-01-02T03:04:05" && other == own
      }
    }

    private func rentTwice(_ business: Business, _ mia: Phone) async throws {
      let columns = "inventory_id, customer_id, staff_id, rental_date"
      let known = try business.connection().rows("SELECT \(columns) \(ShapesTests.ofStore) LIMIT 1")
      let row = try #require(known.first)
      let (inventory, customer) = (row[0].integer ?? 0, row[1].integer ?? 0)
      let date = (row[3].text ?? "").replacing(" ", with: "T")
      let rental = try await mia.create(
        "Rental",
        """
        {"rentalDate":"\(date)","inventoryID":\(inventory),"customerID":\(customer),\
        "staffID":\(row[2].integer ?? 0),"lastUpdate":"\(date)"}
        """)
      try await mia.submit("Rental", rental)
      try await until("the unique index refuses the same rental again") {
        try await mia.logs("Rental", rental).first?["code"]?.integer == 412
      }
      try await mia.update("Rental", rental, #"{"rentalDate":"2026-02-01T12:00:00"}"#)
      try await mia.submit("Rental", rental)
      try await until("another date is accepted") {
        try business.value("SELECT count(*) FROM rental WHERE rental_date LIKE '2026-02-01%'") == 1
      }
    }
  }
}
