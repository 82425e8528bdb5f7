import FerryConnector
import FerryModel
import FerryServer
import FerryWire

extension StoreSuite {
  private static func session(
    _ id: String, user: String = "ada", device: String = "phone", used: Int64 = 0,
    renewed: Int64 = 100, ended: String? = nil
  ) -> StoredSession {
    StoredSession(
      id: id, user: user, device: device, used: used, begun: renewed, renewed: renewed,
      stamp: "s", ended: ended)
  }

  static let sessions: [StoreCase] = [
    StoreCase("A session is known by its id, is renewed, and ends with its user or its time") {
      proof in
      let store = proof.store
      try store.keep(session("1"))
      proof.expectEqual(try store.session("1"), session("1"), "the session")
      try store.keep(session("1", used: 3))
      try store.keep(session("1", used: 2))
      proof.expectEqual(try store.session("1")?.used, 3, "a number that another node has seen")
      try store.keep(session("4", device: "tablet"))
      try store.keep(session("5", user: "ben"))
      try store.endSessions(user: "ada", device: "tablet", reason: "lost")
      proof.expectEqual(try store.hasSession(user: "ada", device: "tablet"), false, "one device")
      proof.expectEqual(try store.session("4")?.ended, "lost", "why it ended")
      try store.keep(session("4", device: "tablet"))
      proof.expectEqual(try store.session("4")?.ended, "lost", "a session that ended stays ended")
      proof.expectEqual(try store.hasSession(user: "ada", device: "phone"), true, "the other one")
      try store.reopenSessions(user: "ada", device: "tablet", reason: "other")
      proof.expectEqual(try store.session("4")?.ended, "lost", "ended for another reason")
      try store.reopenSessions(user: "ada", device: "tablet", reason: "lost")
      proof.expectEqual(try store.hasSession(user: "ada", device: "tablet"), true, "open again")
      try store.endSessions(user: "ada", device: "tablet", reason: "lost")
      try store.endSessions(user: "ada", device: nil, reason: "all")
      proof.expectEqual(try store.hasSession(user: "ada", device: "phone"), false, "all devices")
      proof.expectEqual(try store.session("4")?.ended, "lost", "the first reason stays")
      try store.forgetSessions(begunBefore: 100)
      proof.expect(try store.session("5") != nil, "a session ended before its time")
      try store.forgetSessions(begunBefore: 101)
      proof.expect(try store.session("5") == nil, "a session outlives its time")
    },
    StoreCase("Sessions of a device and devices of a user are bounded; the newest stay") { proof in
      let store = proof.store
      for number in 1...4 {
        try store.keep(session("\(number)", device: "phone", renewed: Int64(number)))
      }
      try store.keep(session("5", device: "old", renewed: 2))
      try store.keep(session("6", device: "new", renewed: 9))
      let evicted = try store.boundSessions(
        user: "ada", device: "phone", perDevice: 2, devices: 2)
      proof.expectEqual(evicted, ["old"], "the devices without a session")
      let left = try (1...6).filter { try store.session("\($0)")?.ended == nil }
      proof.expectEqual(left, [3, 4, 6], "the sessions that stay")
    },
    StoreCase("What tokens of an issuer said of their users is kept until it is old") { proof in
      let store = proof.store
      let allowed: [[String]?] = [["Tr\u{e9}vel", "Hr"], nil, []]
      for packages in allowed + allowed {
        let user = StoredTokenUser(
          user: "https://login|e\u{301}", roles: ["a"], claims: ["x": ["1", "\u{e9}"]], issued: 5,
          packages: packages)
        try store.keep(user)
        proof.expectEqual(try store.tokenUsers(), [user], "the users")
      }
      try store.forgetTokenUsers(issuedBefore: 5)
      proof.expectEqual(try store.tokenUsers().count, 1, "users that are not old")
      try store.forgetTokenUsers(issuedBefore: 6)
      proof.expectEqual(try store.tokenUsers().count, 0, "users that are old")
    },
    StoreCase("The register has each device once, with what was decided about it") { proof in
      let store = proof.store
      var device = RegisteredDevice(user: "ada", device: "pho\u{0}ne")
      device.pending = 3
      device.lastSeen = 9
      try store.keep(device)
      proof.expectEqual(try store.registeredDevice(device.owner), device, "the device")
      device.state = .wiping
      device.receipt = "r"
      device.withPending = true
      device.pending = nil
      device.reason = "lost; \u{e9}"
      device.template = "field"
      device.subscription = "accepted"
      device.parameters = "[{}]"
      try store.keep(device)
      proof.expectEqual(try store.registeredDevices(), [device], "the decision")
      proof.expect(
        try store.registeredDevice(Owner(device: "phone", user: "ada")) == nil, "another device")
      try store.forgetRegistered(device.owner)
      proof.expectEqual(try store.registeredDevices(), [], "a device that was forgotten")
    },
    StoreCase("A write of many visits makes no device and undoes no decision") { proof in
      let store = proof.store
      var devices = ["pho\u{0}ne", "tablet", "gone"].map {
        RegisteredDevice(user: "ada", device: $0)
      }
      devices[1].state = .locked
      devices[1].reason = "lost"
      for device in devices.prefix(2) { try store.keep(device) }
      for position in devices.indices {
        devices[position].lastSeen = Int64(position) + 7
        devices[position].pending = position == 0 ? 3 : nil
        devices[position].cursors = "[{}]"
      }
      try store.keep(seen: devices.map { SeenDevice($0) })
      let kept = try store.registeredDevices().sorted { $0.lastSeen < $1.lastSeen }
      proof.expectEqual(kept, Array(devices.prefix(2)), "the register")
      try store.keep(seen: [])
      try store.keep([(owner: Owner, device: StoredDevice)]())
    },
    StoreCase("Names that differ in bytes only are different names, even with the character 0") {
      proof in
      let store = proof.store
      let names = ["e\u{301}", "\u{e9}", "a\u{0}b", "a\u{0}c", "a", "a\u{1}0b", "'; \\ \" {,}"]
      for (number, name) in names.enumerated() {
        try store.keep([(name: name, value: "\"\(number)\"")], of: name)
        let device = StoredDevice(incarnation: "\(number)", rightsVersion: "r", isOfToday: true)
        try store.keep([(Owner(device: name, user: name), device)])
      }
      for (number, name) in names.enumerated() {
        let keys = try store.personalKeys(of: name)
        proof.expectEqual(keys.count, 1, "keys of \(name.debugDescription)")
        proof.expectEqual(keys.values.first, "\"\(number)\"", "of \(name.debugDescription)")
        proof.expect(keys.keys.first?.hasBytes(of: name) ?? false, "a key's name was changed")
        proof.expectEqual(
          try store.device(Owner(device: name, user: name))?.incarnation, "\(number)",
          "the device \(name.debugDescription)")
      }
      try store.keep([(name: "a", value: nil), (name: "b", value: "1")], of: "a")
      proof.expectEqual(try store.personalKeys(of: "a"), ["b": "1"], "keys after one was removed")
    },
    StoreCase("Devices are remembered by day and user, and forgotten in that order") { proof in
      let store = proof.store
      let device = StoredDevice(incarnation: "1", rightsVersion: "r", isOfToday: true)
      for name in ["one", "two", "three"] {
        try store.keep([(Owner(device: name, user: "ada"), device)])
        proof.stage.advance(days: 1)
        try store.countDay()
      }
      let one = Owner(device: "one", user: "ada")
      proof.expectEqual(try store.device(one)?.isOfToday, false, "a device of an earlier day")
      try store.forgetDevices(of: one, beyond: 2)
      let left = try ["one", "two", "three"].filter {
        try store.device(Owner(device: $0, user: "ada")) != nil
      }
      proof.expectEqual(left, ["one", "three"], "the devices that stay")
      try store.forgetDevices(unseenForDays: 2)
      proof.expect(try store.device(one) == nil, "a device that was not seen for long")
      proof.expect(
        try store.device(Owner(device: "three", user: "ada")) != nil, "a device of yesterday")
    },
    StoreCase("A secret is made once") { proof in
      let bytes = [UInt8](1...32)
      proof.expectEqual(try proof.store.secret("token.key") { bytes }, bytes, "the secret")
      try proof.reopen()
      let again = try proof.store.secret("token.key") { [UInt8](repeating: 9, count: 32) }
      proof.expectEqual(again, bytes, "the secret after a start")
    },
  ]

  static let contents: [StoreCase] = [
    StoreCase("A content comes in pieces and is read from anywhere") { proof in
      let store = proof.store
      let reference = BigReference(
        sizeBytes: 10, digest: String(repeating: "ab", count: 32))
      proof.expect(try store.content("ada", reference) == nil, "a content that never came")
      let begun = try store.beginContent("ada", reference)
      try store.appendContent(begun.id, at: 0, [0, 1, 2, 255])
      try store.appendContent(begun.id, at: 4, [4, 5, 6, 7, 8, 9])
      try store.setContent(begun.id, .whole)
      let known = try store.content("ada", reference)
      proof.expectEqual(
        known, StoredContent(id: begun.id, stored: 10, state: .whole), "the content")
      proof.expect(try store.content("ben", reference) == nil, "another user's content")
      proof.expectEqual(try store.contentPiece(begun.id, at: 2), [2, 255], "inside a piece")
      proof.expectEqual(try store.contentPiece(begun.id, at: 10), [], "behind the end")
      proof.expectEqual(try store.contentReader(begun.id)(5), [5, 6, 7, 8, 9], "on another thread")
      proof.expectEqual(try store.contentBytes(of: "ada"), 10, "bytes of the user")
      proof.stage.advance(days: 3)
      try store.countDay()
      proof.expectEqual(try store.oldContents(days: 0).map(\.id), [begun.id], "old contents")
      try store.discardContents([begun.id])
      proof.expect(try store.content("ada", reference) == nil, "a content that was discarded")
      proof.expectEqual(try store.contentPiece(begun.id, at: 0), [], "its pieces")
    }
  ]
}
