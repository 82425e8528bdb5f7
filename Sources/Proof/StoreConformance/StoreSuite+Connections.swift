import FerryServer

extension StoreSuite {
  private static func connection(
    _ id: String, user: String = "ada", application: String = "com.example.flights"
  ) -> StoredConnection {
    StoredConnection(id: id, user: user, application: application, registered: 7)
  }

  static let connections: [StoreCase] = [
    StoreCase("A connection is registered once, by its id, and its changes are counted") { proof in
      let store = proof.store
      var one = connection("1\u{0}__\u{e9}")
      one.properties = #"{"CustomCustom1":"\u0000"}"#
      one.template = "field"
      one.proof = "p"
      proof.expectEqual(try store.add(one), true, "the first")
      proof.expectEqual(try store.connection(one.id), one, "the connection")
      proof.expectEqual(try store.add(one), false, "the same id again")
      proof.expectEqual(try store.add(connection(one.id, user: "ben")), false, "another user's id")
      proof.expectEqual(try store.connection(one.id)?.user, "ada", "whose it is")
      one.properties = "{}"
      proof.expectEqual(try store.update(one, from: 1), false, "an update of another state")
      proof.expectEqual(try store.update(one, from: 0), true, "an update")
      one.changes = 1
      proof.expectEqual(try store.connection(one.id), one, "the changed connection")
      let two = connection("2", user: "ben")
      proof.expectEqual(try store.add(two), true, "another one")
      proof.expectEqual(try store.add(connection("3", application: "other")), true, "another app's")
      let all = try store.connections(of: "com.example.flights", user: nil)
      proof.expectEqual(all, [one, two], "those of an application")
      let own = try store.connections(of: "com.example.flights", user: "ben")
      proof.expectEqual(own, [two], "those of a user")
      try store.forgetRegistered(one.owner)
      proof.expect(try store.connection(one.id) == nil, "a connection that was deleted")
      proof.expectEqual(try store.update(one, from: 1), false, "an update of none")
    },
    StoreCase("A device and a connection of the same user and id are one row of the register") {
      proof in
      let store = proof.store
      var device = RegisteredDevice(user: "ada", device: "phone")
      device.lastSeen = 9
      device.state = .locked
      device.reason = "lost"
      device.template = "field"
      try store.keep(device)
      proof.expect(try store.connection("phone") == nil, "a device that no app has registered")
      proof.expectEqual(try store.add(connection("phone")), true, "a device becomes a connection")
      proof.expectEqual(try store.registeredDevices(), [device], "the device is as it was")
      let made = try store.connection("phone")
      proof.expectEqual(made?.state, .locked, "what was decided about it")
      proof.expectEqual(made?.template, "field", "its template")
      device.lastSeen = 10
      try store.keep(device)
      let application = try store.connection("phone")?.application
      proof.expectEqual(application, "com.example.flights", "it stays")
      // Without an app, two users may have the same device.
      try store.keep(RegisteredDevice(user: "ben", device: "phone"))
      proof.expectEqual(try store.connection("phone")?.user, "ada", "the one that is registered")
    },
    StoreCase("Payloads wait in their order, up to the end of the queue, and leave with it") {
      proof in
      let store = proof.store
      let (ada, ben) = (connection("1"), connection("2", user: "ben"))
      let none = try store.add(StoredPayload(moment: 1, content: "x"), to: ada.owner, limit: 2)
      proof.expect(none == nil, "a payload for nobody")
      _ = try store.add(ada)
      _ = try store.add(ben)
      let contents = ["a\u{0}", "b", "c"]
      var numbers: [Int64] = []
      for content in contents {
        let payload = StoredPayload(moment: 5, content: content)
        if let number = try store.add(payload, to: ada.owner, limit: 2) { numbers.append(number) }
      }
      proof.expectEqual(numbers.count, 2, "the queue has an end")
      _ = try store.add(StoredPayload(moment: 5, content: "d"), to: ben.owner, limit: 2)
      let waiting = try store.payloads(of: ada.owner, after: 0, count: 9)
      proof.expectEqual(waiting.map(\.content), ["a\u{0}", "b"], "in their order")
      proof.expectEqual(waiting.map(\.number), numbers, "their numbers")
      let next = try store.payloads(of: ada.owner, after: numbers.first ?? 0, count: 1)
      proof.expectEqual(next.map(\.content), ["b"], "those behind a number")
      try store.forgetPayloads(of: ada.owner, upTo: numbers.first ?? 0)
      proof.expectEqual(try store.payloadCount(of: ada.owner), 1, "those that were fetched")
      let later = try store.add(StoredPayload(moment: 6, content: "e"), to: ada.owner, limit: 2)
      proof.expect((later ?? 0) > (numbers.last ?? 0), "numbers grow")
      try store.forgetRegistered(ada.owner)
      proof.expectEqual(try store.payloadCount(of: ada.owner), 0, "those of a deleted connection")
      proof.expectEqual(try store.payloadCount(of: ben.owner), 1, "those of another one")
    },
  ]
}
