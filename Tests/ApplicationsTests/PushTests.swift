import FerryHTTP
import FerryJSON
import FerryTestTraits
import Foundation
import Testing

@testable import FerryApplications
@testable import FerryRegistration
@testable import FerryServer

@Suite("Payloads that services push", .timeLimit(.minutes(60)))
struct PushTests {
  /// Lines of a channel until one has a payload.
  private func line(_ stream: any HTTPBodySource) async -> String? {
    while true {
      switch await stream.next() {
      case .bytes(let bytes):
        let text = String(decoding: bytes, as: UTF8.self)
        if text != "\n" { return text }
      case .end, .abort: return nil
      }
    }
  }

  private func open(_ desk: Desk, _ id: String, after: Int = 0) async throws -> any HTTPBodySource {
    let answer = await desk.send(
      "GET", "/Notification/\(id)?after=\(after)", [("X-SUP-APPCID", id)])
    #expect(answer.status == 200)
    return try #require(answer.stream)
  }

  @Test(
    "A payload waits in the queue of its connection, in order, until the device has it",
    .reference("ios/SRV-21", "adr/SV-13", "adr/SV-15"))
  func queued() async throws {
    let desk = try await Desk()
    let id = await desk.register()
    for text in ["one", "two"] {
      let answer = await desk.send("POST", "/Notification/\(id)", user: "sapgw", body: text)
      #expect(answer.status == 201)
    }
    let first = try await open(desk, id)
    let lines = try #require(await line(first)).split(separator: "\n")
    #expect(lines.count == 2 && lines[0].contains(#""Data":"one""#))
    #expect(lines[1].contains(#""Data":"two""#))
    let numbers = try lines.map {
      try #require(try JSONNode.parse(Array($0.utf8))["number"]?.integer)
    }
    // A device that ended before it had the second gets it again, and not the first.
    let second = try await open(desk, id, after: Int(numbers[0]))
    let again = try #require(await line(second))
    #expect(!again.contains("one") && again.contains("two"))
    let taken = await desk.send(
      "DELETE", "/Notification/\(id)?through=\(numbers[1])", [("X-SUP-APPCID", id)])
    #expect(taken.status == 204)
    #expect(try await desk.host.payloadCount(of: Owner(device: id, user: "anna")) == 0)
  }

  @Test("An open channel gets a payload when it comes, and ends with its connection")
  func live() async throws {
    let desk = try await Desk()
    let id = await desk.register()
    let stream = try await open(desk, id)
    _ = await stream.next()
    async let next = line(stream)
    #expect(await desk.send("POST", "/Notification/\(id)", user: "sapgw", body: "x").status == 201)
    #expect(await next?.contains(#""Data":"x""#) == true)
    async let end = line(stream)
    _ = await desk.send("DELETE", "\(Desk.path)('\(id)')", [("X-SUP-APPCID", id)])
    #expect(await end == nil)
  }

  @Test("A channel that is open gives nothing more once its device is locked")
  func locked() async throws {
    let desk = try await Desk()
    let id = await desk.register()
    let stream = try await open(desk, id)
    _ = await stream.next()
    let owner = Owner(device: id, user: "anna")
    _ = try await desk.host.decide(.lock, owner, reason: "lost", withPending: false)
    #expect(await desk.send("POST", "/Notification/\(id)", user: "sapgw", body: "x").status == 201)
    #expect(await line(stream) == nil)
    #expect(try await desk.host.payloadCount(of: owner) == 1, "it waits")
  }

  @Test("A silent channel says after 15 seconds that it is alive")
  func beat() async throws {
    let desk = try await Desk()
    let id = await desk.register()
    let stream = try await open(desk, id)
    _ = await stream.next()
    async let beat = stream.next()
    // The channel may begin to wait after a tick: each later one lets it go.
    let ticking = Task {
      while !Task.isCancelled {
        desk.clock.advance(15)
        await desk.applications.tick()
        await Task.yield()
      }
    }
    guard case .bytes(let bytes) = await beat else {
      Issue.record("the channel has ended")
      return
    }
    ticking.cancel()
    #expect(bytes == [UInt8(ascii: "\n")])
  }

  @Test(
    "A channel reports all settings, then the end of them, and then each that changes",
    .reference("ios/SRV-12"))
  func settings() async throws {
    let desk = try await Desk()
    let id = await desk.register(body: #"{"CustomCustom1":"a"}"#)
    let answer = await desk.send(
      "GET", "/Notification/\(id)?settings=true", [("X-SUP-APPCID", id)])
    let stream = try #require(answer.stream)
    let lines = try #require(await line(stream)).split(separator: "\n").map(String.init)
    #expect(lines.count == ConnectionProperty.all.count)
    #expect(lines.contains(#"{"setting":"CustomCustom1","id":2300,"value":"a"}"#))
    #expect(lines.last == #"{"settings":"complete","id":20000}"#)
    async let next = line(stream)
    let merge = await desk.send(
      "MERGE", "\(Desk.path)('\(id)')", [("X-SUP-APPCID", id)], body: #"{"CustomCustom2":"b"}"#)
    #expect(merge.status == 204)
    #expect(await next == "{\"setting\":\"CustomCustom2\",\"id\":2301,\"value\":\"b\"}\n")
    async let payload = line(stream)
    _ = await desk.send("POST", "/Notification/\(id)", user: "sapgw", body: "x")
    #expect(await payload?.contains(#""Data":"x""#) == true)
  }

  @Test("Only who has the role pushes, and learns no ids otherwise; the queue has an end")
  func refused() async throws {
    var small = Desk.plain
    small.queue = 2
    let desk = try await Desk([small])
    let id = await desk.register()
    for target in [id, "guessed", "a%2Fb"] {
      let answer = await desk.send("POST", "/Notification/\(target)", body: "x")
      #expect(
        target.contains("%") ? answer.status == 404 : answer.code == .missingRole, "\(target)")
    }
    #expect(await desk.send("POST", "/Notification/\(id)", user: nil, body: "x").status == 401)
    let unknown = await desk.send("POST", "/Notification/guessed", user: "sapgw", body: "x")
    #expect(unknown.status == 404 && unknown.code == .notRegistered)
    let large = String(repeating: "x", count: 4_097)
    #expect(
      await desk.send("POST", "/Notification/\(id)", user: "sapgw", body: large).status == 413)
    let header = await desk.send(
      "POST", "/Notification/\(id)", user: "sapgw", [("X-SUP-DATA", large)])
    #expect(header.status == 413 && header.code == .payloadTooLarge)
    let bytes = await desk.send(
      "POST", "/Notification/\(id)", user: "sapgw", [], bytes: [0xFF, 0xFE])
    #expect(bytes.code == .unreadablePayload)
    #expect(await desk.send("POST", "/Notification/\(id)", user: "sapgw").code == .emptyParameters)
    for expected in [201, 201, 429] {
      let answer = await desk.send("POST", "/Notification/\(id)", user: "sapgw", body: "a\u{0}b")
      #expect(answer.status == expected)
    }
    // Nobody reads the queue of somebody else.
    let theft = await desk.send("GET", "/Notification/\(id)", user: "berta", [("X-SUP-APPCID", id)])
    #expect(theft.status == 403 && theft.stream == nil)
    let clear = await desk.send(
      "DELETE", "/Notification/\(id)?through=99", user: "berta", [("X-SUP-APPCID", id)])
    #expect(clear.status == 403)
    #expect(try await desk.host.payloadCount(of: Owner(device: id, user: "anna")) == 2)
  }

  @Test("Each family of headers arrives under its name, in either spelling")
  func families() async throws {
    let desk = try await Desk()
    let id = await desk.register()
    let stream = try await open(desk, id)
    _ = await stream.next()
    for (headers, fields) in [
      (
        [("X-SUP-DATA", "d"), ("X-SUP-APNS-BADGE", "3"), ("X-SUP-APNS-ALERT-BODY", "b")],
        [#""Data":"d""#, #""APNS-BADGE":"3""#, #""APNS-ALERT-BODY":"b""#]
      ),
      (
        [("X-SMP-GCM-COLLAPSEKEY", "k"), ("X-SMP-GCM-DATA", "g"), ("X-SMP-GCM-TIMETOLIVE", "9")],
        [#""GCM-COLLAPSEKEY":"k""#, #""GCM-DATA":"g""#, #""GCM-TIMETOLIVE":"9""#]
      ),
      (
        [
          ("x-sap-poke-title", "t"), ("x-sap-poke-entriesofinterest", "4"),
          ("x-sap-poke-data", "p"),
        ],
        [#""Title":"t""#, #""EntriesOfInterest":"4""#, #""Data":"p""#]
      ),
    ] {
      let answer = await desk.send("POST", "/Notification/\(id)", user: "sapgw", headers)
      #expect(answer.status == 201)
      let text = try #require(await line(stream))
      for field in fields { #expect(text.contains(field), "\(text)") }
    }
    let twice = await desk.send(
      "POST", "/Notification/\(id)", user: "sapgw", [("X-SUP-DATA", "a"), ("X-SUP-DATA", "b")])
    #expect(twice.code == .repeatedProperty)
  }

  @Test("A document goes to a connection, to a user or to all of an application, and to no other")
  func documents() async throws {
    let other = Application(id: "com.example.other")
    let desk = try await Desk([Desk.plain, other])
    let (annas, bertas) = (await desk.register(), await desk.register("berta"))
    let made = await desk.send(
      "POST", "/odata/applications/v1/com.example.other/Connections", user: "anna")
    let others = try #require(made.headers["X-SUP-APPCID"])
    func waiting() async throws -> [Int] {
      [
        try await desk.host.payloadCount(of: Owner(device: annas, user: "anna")),
        try await desk.host.payloadCount(of: Owner(device: bertas, user: "berta")),
        try await desk.host.payloadCount(of: Owner(device: others, user: "anna")),
      ]
    }
    func push(
      _ path: String, _ body: String = #"{"alert":"a","badge":1,"data":"d"}"#
    ) async -> Answer {
      await desk.send("POST", "/restnotification/\(path)", user: "sapgw", body: body)
    }
    #expect(await push("registration/\(annas)").status == 201)
    #expect(try await waiting() == [1, 0, 0])
    #expect(await push("application/com.example.flights/user/berta").status == 201)
    #expect(try await waiting() == [1, 1, 0])
    #expect(await push("application/com.example.flights").text == #"{"connections":2,"queued":2}"#)
    #expect(try await waiting() == [2, 2, 0])
    #expect(await push("application/com.example.flights/user/nobody").code == .notRegistered)
    #expect(await push("application/nowhere").code == .unknownApplication)
    #expect(await push("registration/\(annas)", "text").code == .unreadablePayload)
    #expect(await push("registration/\(annas)", #"{"a":1,"a":2}"#).code == .repeatedProperty)
    #expect(await push("registration/\(annas)", #"{"a":{"b":1}}"#).code == .unreadablePayload)
    #expect(try await waiting() == [2, 2, 0])
  }
}
