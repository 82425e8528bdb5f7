import FerryHTTP
import FerryWire
import FerryWorld
import Foundation
import Testing

extension Way {
  /// What reaches a running ferryd: one clear error each, and the server goes on.
  @Suite struct BadInputTests {
    private struct Scene {
      let business: Business
      let daemon: Daemon
      let phone: Phone
      let token: String
      let key: String

      /// `note`: what SQL gives as the note of each booking; nil for none.
      static func make(bookings: Int = 300, note: String? = nil) async throws -> Scene {
        let business = try await Business.flights(bookings: bookings)
        if let note { try business.run("UPDATE Bookings SET Note = \(note)") }
        let daemon = try await Daemon.start(business)
        let phone = try await Phone.start(business, "ada", user: "ada", daemon.address)
        let token = try await Wires.token(daemon.address, "ada", device: "bad")
        let key = try business.value(
          """
          SELECT BookingID FROM Bookings JOIN Flights USING (FlightID)
          WHERE AgencyID = 'AG-01' AND Status = 'planned' LIMIT 1
          """)
        return Scene(
          business: business, daemon: daemon, phone: phone, token: token, key: String(key))
      }

      /// The head of an exchange without its last lines, for what no client of HTTP sends.
      func head(_ token: String) -> String {
        "POST /ferry/1/exchange HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n"
      }

      func exchange(_ body: [UInt8]) async throws -> Wires.Reply {
        try await Wires.post("\(daemon.address)/ferry/1/exchange", body, token: token)
      }

      /// The server is healthy and a device does its work.
      func goesOn(_ after: String) async throws {
        #expect(try await daemon.isHealthy())
        try await phone.update("Bookings", key, #"{"note":"after \#(after)"}"#)
        try await phone.submit("Bookings", key)
        try await until("a device works after \(after)") {
          try await phone.show("Bookings", key)["pending"]?.string == "N"
        }
        #expect(
          try business.value("SELECT count(*) FROM Bookings WHERE Note = 'after \(after)'") == 1)
      }

      var residentKilobytes: Int {
        let status =
          (try? String(contentsOfFile: "/proc/\(daemon.process.id)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
      }
    }

    @Test("A body of 1 GB is refused, announced or in chunks, and is not held")
    func huge() async throws {
      let scene = try await Scene.make()
      let before = scene.residentKilobytes
      let head = scene.head(scene.token)
      let announced = try RawSocket(port: scene.daemon.port)
      announced.send(Array("\(head)Content-Length: 1073741824\r\n\r\n".utf8))
      let answer = announced.answer(untilEnd: false)
      #expect(answer.hasPrefix("HTTP/1.1 413"), "\(answer)")
      try await scene.goesOn("a gigabyte announced")
      let chunked = try RawSocket(port: scene.daemon.port)
      chunked.send(Array("\(head)Transfer-Encoding: chunked\r\n\r\n".utf8))
      let chunk =
        Array("100000\r\n".utf8) + [UInt8](repeating: 0x41, count: 1 << 20) + Array("\r\n".utf8)
      var megabytes = 0
      while megabytes < 1_024, !chunked.hasAnswer, chunked.send(chunk) { megabytes += 1 }
      #expect(megabytes < 200)
      let reply = chunked.answer(untilEnd: false)
      #expect(reply.hasPrefix("HTTP/1.1 413"), "\(reply)")
      let grown = (scene.residentKilobytes - before) / 1_024
      tell("1 GB in chunks was refused after \(megabytes) MB; the process grew by \(grown) MB")
      #expect(grown < 64)
      try await scene.goesOn("a gigabyte in chunks")
    }

    @Test("JSON nested 10,000 deep is refused in a login and in a frame")
    func deep() async throws {
      let scene = try await Scene.make()
      // As deep as 4 KB allow.
      let deep = String(repeating: #"{"user":"#, count: 440)
      for body in [deep, deep + "1" + String(repeating: "}", count: 440), "", "[1]"] {
        for path in ["login", "token"] {
          let reply = try await Wires.post(
            "\(scene.daemon.address)/ferry/1/\(path)", Array(body.utf8))
          #expect(reply.status == 400)
          #expect(reply.code == "badRequest")
        }
      }
      for path in ["login", "token"] {
        let reply = try await Wires.post(
          "\(scene.daemon.address)/ferry/1/\(path)",
          Array(String(repeating: #"{"user":"#, count: 10_000).utf8))
        #expect(reply.status == 413)
      }
      let nested =
        String(repeating: #"{"x":"#, count: 10_000) + "1"
        + String(repeating: "}", count: 10_000)
      for kind in Frame.Kind.allCases {
        let body =
          Letters.first(scene.business, device: "bad")
          + Frame(kind, Array(nested.utf8)).encoded()
        let failure = try Letters.failure(try await scene.exchange(body))
        #expect(failure?.code == .badMessage)
        #expect(failure?.hint.isEmpty == false)
      }
      let bomb = Frame(.pull, [UInt8](repeating: 0x20, count: (64 << 20) + 1)).encoded()
      #expect(bomb.count < 1 << 20)
      let failure = try Letters.failure(
        try await scene.exchange(Letters.first(scene.business, device: "bad") + bomb))
      #expect(failure?.code == .badMessage)
      try await scene.goesOn("deep JSON")
    }

    @Test("Devices that never read what they asked for hold a few megabytes each, and nobody up")
    func neverReads() async throws {
      // Notes that do not become small on their way.
      let scene = try await Scene.make(bookings: 20_000, note: "hex(randomblob(1200))")
      let before = scene.residentKilobytes
      var sockets: [RawSocket] = []
      for number in 0..<10 {
        let device = "silent\(number)"
        let token = try await Wires.token(scene.daemon.address, "dora", device: device)
        let body = Letters.first(scene.business, device: device)
        let socket = try RawSocket(port: scene.daemon.port, receiveBytes: 4_096)
        socket.send(Array("\(scene.head(token))Content-Length: \(body.count)\r\n\r\n".utf8) + body)
        sockets.append(socket)
      }
      try await until("each has an answer") { sockets.allSatisfy(\.hasAnswer) }
      try await scene.goesOn("silent devices")
      let growth = scene.residentKilobytes - before
      tell("10 devices that never read 24 MB each: the server grew by \(growth) KB")
      // A round of 4 MB for each, beside the server's cache of 32 MB and what a round needs.
      #expect(growth < 120 * 1_024)
      #expect(try await scene.daemon.stopInOrder() == .exit(0))
      #expect(sockets.count == 10, "they were open all the time")
    }

    @Test("A frame cut anywhere, or with any byte changed, is answered and harms nothing")
    func cut() async throws {
      let scene = try await Scene.make()
      let hello = Message.hello(Letters.hello(scene.business, device: "bad")).frame.encoded()
      let body = Letters.first(scene.business, device: "bad")
      for count in body.indices {
        let reply = try await scene.exchange(Array(body[..<count]))
        #expect(reply.status == 200)
        let failure = try Letters.failure(reply)
        // Between two frames is no cut.
        guard count != hello.count else {
          #expect(failure == nil)
          continue
        }
        #expect(failure?.code == .badMessage, "cut at \(count)")
      }
      try await scene.goesOn("cut frames")
      for position in body.indices {
        var changed = body
        changed[position] ^= 1 << UInt8(position % 8)
        let reply = try await scene.exchange(changed)
        #expect(reply.status == 200, "byte \(position)")
        _ = try Letters.failure(reply)
      }
      try await scene.goesOn("changed bytes")
    }

    @Test("A message of another version, of an unknown package, and no message at all are refused")
    func versions() async throws {
      let scene = try await Scene.make()
      let business = scene.business
      let cases: [(Hello, WireFailure.Code)] = [
        (Letters.hello(business, device: "bad", protocol: 99), .protocolVersion),
        (Letters.hello(business, device: "bad", protocol: -1), .protocolVersion),
        (Letters.hello(business, device: "bad", package: "Nope:9.9"), .unknownPackage),
        (
          Letters.hello(business, device: "bad", package: "\(business.package.name):9.9"),
          .unknownPackage
        ),
      ]
      for (hello, code) in cases {
        let body = Message.hello(hello).frame.encoded() + Letters.pulls(business)
        let failure = try Letters.failure(try await scene.exchange(body))
        #expect(failure?.code == code)
        #expect(failure?.hint.isEmpty == false)
      }
      let none = try await Wires.get("\(scene.daemon.address)/somewhere")
      #expect(none.status == 404 && none.code == "notFound")
      let nonsense = try RawSocket(port: scene.daemon.port)
      nonsense.send(Array("\u{16}\u{3}\u{1} this is not HTTP\r\n\r\n".utf8))
      #expect(nonsense.answer().hasPrefix("HTTP/1.1 200") == false)
      let long = try RawSocket(port: scene.daemon.port)
      let head =
        "GET /health HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a", count: 100_000))\r\n\r\n"
      long.send(Array(head.utf8))
      let answer = long.answer(untilEnd: false)
      #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 431"), "\(answer)")
      try await scene.goesOn("other versions")
    }

    @Test("A business database that is locked for a while delays a change and loses none")
    func locked() async throws {
      let scene = try await Scene.make()
      do {
        let holder = try scene.business.connection()
        try holder.execute("BEGIN EXCLUSIVE")
        try await scene.phone.update("Bookings", scene.key, #"{"note":"locked"}"#)
        try await scene.phone.submit("Bookings", scene.key)
        // Longer than the server waits for a lock by itself, so that it gives up and tries again.
        let held = Stopwatch()
        try await until("the lock was held") {
          let isHealthy = try await scene.daemon.isHealthy()
          #expect(isHealthy)
          return held.seconds >= 7
        }
        #expect(try await scene.phone.show("Bookings", scene.key)["pending"]?.string == "U")
        try holder.execute("COMMIT")
      }
      try await until("the change arrives") {
        try await scene.phone.show("Bookings", scene.key)["pending"]?.string == "N"
      }
      #expect(
        try scene.business.value("SELECT count(*) FROM Bookings WHERE Note = 'locked'") == 1)
      try await scene.goesOn("a lock")
    }
  }
}
