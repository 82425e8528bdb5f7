import Ferry
import FerryCrypto
import FerryHTTP
import FerryJSON
import FerryModel
import FerryServer
import FerryTestKit
import FerryText
import FerryTravel
import Testing

@testable import FerryNotices

/// Notices of today: `POST /notices/<package>`.
@Suite(.timeLimit(.minutes(60)))
struct NoticeTests {
  @Test func aNoticeWithoutValuesIsReadBack() async throws {
    let bench = try await NoticeBench()
    let answer = await bench.send("{\"id\":\"1\",\"entity\":\"Booking\",\"key\":{\"bookingID\":1}}")
    #expect(answer.status == 200)
    #expect(answer.outcomes == ["readBack"])
  }

  @Test func anObjectThatChangedWholeIsReadBackAndHasNoValues() async throws {
    let bench = try await NoticeBench()
    await bench.becomeCalm()
    let whole = await bench.send("{\"entity\":\"Flight\",\"key\":318,\"whole\":true}")
    #expect(whole.status == 200 && whole.outcomes == ["readBack"])
    let both = await bench.send(
      "{\"entity\":\"Flight\",\"key\":318,\"whole\":true,\"values\":{\"seatsLeft\":1}}")
    #expect(both.outcomes == ["refused"])
  }

  @Test func aRepeatedNoticeChangesNothingForSevenDays() async throws {
    let bench = try await NoticeBench()
    let body = "{\"id\":\"1\",\"entity\":\"Booking\",\"key\":1}"
    #expect(await bench.send(body).outcomes == ["readBack"])
    #expect(await bench.send(body).outcomes == ["repeated"])
    #expect(await bench.send("[\(body),\(body)]").outcomes == ["repeated", "repeated"])
    await bench.server.advance(by: .seconds(8 * 86_400))
    #expect(await bench.send(body).outcomes == ["readBack"])
  }

  @Test func valuesOfAnObjectInDoubtAreReadBack() async throws {
    let bench = try await NoticeBench()
    let answer = await bench.send(
      "{\"entity\":\"Booking\",\"key\":1,\"values\":{\"passenger\":\"other\"}}")
    #expect(answer.outcomes == ["readBack"])
    #expect(try await bench.values("Booking", "1")?["passenger"] == .text("p 1"))
  }

  @Test func valuesCountAsOfArrival() async throws {
    let bench = try await NoticeBench()
    await bench.becomeCalm()
    let answer = await bench.send(
      "{\"entity\":\"Booking\",\"key\":1,\"values\":{\"passenger\":\"other\"}}")
    #expect(answer.outcomes == ["taken"])
    #expect(try await bench.values("Booking", "1")?["passenger"] == .text("other"))
    // The second one is in doubt: it may be older than the first.
    let next = await bench.send(
      "{\"entity\":\"Booking\",\"key\":1,\"values\":{\"passenger\":\"third\"}}")
    #expect(next.outcomes == ["readBack"])
  }

  @Test func anOlderNoticeAfterANewerOneChangesNothing() async throws {
    let bench = try await NoticeBench()
    func flight(_ version: Int, _ status: String) async -> [String] {
      await bench.send(
        "{\"entity\":\"Flight\",\"key\":318,\"asOf\":\(version),"
          + "\"values\":{\"seatsLeft\":\(version),\"status\":\"\(status)\"}}"
      ).outcomes
    }
    // The business system and the cache have 95.
    #expect(await flight(93, "older") == ["older"])
    #expect(await flight(95, "same") == ["older"])
    #expect(try await bench.values("Flight", "318")?["status"] == .text("open"))
    #expect(await flight(96, "newer") == ["taken"])
    let deleted = await bench.send(
      "{\"entity\":\"Flight\",\"key\":318,\"asOf\":94,\"deleted\":true}")
    #expect(deleted.outcomes == ["older"])
  }

  @Test func valuesNeverOverwriteAnObjectInWork() async throws {
    let bench = try await NoticeBench()
    await bench.becomeCalm()
    let database = try await bench.server.database(user: "nancy", claims: ["agency": ["A07"]])
    bench.server.holdReplays()
    var booking = try await Booking.load(1, in: database)
    booking.passenger = "by the device"
    booking = try await booking.save()
    try await database.synchronize(awaitingAnswers: false)
    while await bench.server.waitingOperations() == 0 { await Task.yield() }
    let answer = await bench.send(
      "{\"entity\":\"Booking\",\"key\":1,\"values\":{\"passenger\":\"by a notice\"}}")
    #expect(answer.outcomes == ["readBack"])
    bench.server.releaseReplays()
    _ = try await booking.replayOutcome()
    #expect(try await bench.values("Booking", "1")?["passenger"] == .text("by the device"))
  }

  @Test func whatASenderMayNotNameIsRefused() async throws {
    let bench = try await NoticeBench()
    for (body, word) in [
      ("{\"entity\":\"Agency\",\"key\":\"A07\"}", "Agency is no entity"),
      ("{\"entity\":\"Nothing\",\"key\":1}", "Nothing is no entity"),
      ("{\"entity\":\"Booking\"}", "\"key\" is missing"),
      ("{\"entity\":\"Booking\",\"key\":\"x\"}", "bookingID"),
      ("{\"entity\":\"Booking\",\"key\":[1,2]}", "bookingID"),
      ("{\"entity\":\"Booking\",\"key\":1,\"vals\":{}}", "\"vals\" is not known"),
      ("{\"entity\":\"Booking\",\"entity\":\"Flight\",\"key\":1}", "twice"),
      ("{\"entity\":\"Booking\",\"key\":1,\"values\":{\"passengr\":1}}", "no attribute passengr"),
      ("{\"entity\":\"Booking\",\"key\":1,\"values\":{\"seats\":\"many\"}}", "seats is no"),
      ("{\"entity\":\"Booking\",\"key\":1,\"values\":{\"seats\":null}}", "seats is no"),
      ("{\"entity\":\"Booking\",\"key\":1,\"values\":{\"bookingID\":2}}", "not what the key says"),
      ("{\"entity\":\"Booking\",\"key\":1,\"asOf\":3}", "\"asOf\" needs the version attribute"),
      ("{\"entity\":\"Flight\",\"key\":318,\"asOf\":\"now\"}", "\"asOf\" is no"),
      ("{\"entity\":\"Booking\",\"key\":1,\"deleted\":\"yes\"}", "\"deleted\""), ("3", "no object"),
    ] {
      let answer = await bench.send(body)
      #expect(answer.status == 422, "\(body)")
      #expect(answer.outcomes == ["refused"], "\(body)")
      #expect(answer.reasons.first?.contains(word) == true, "\(body): \(answer.text)")
    }
  }

  @Test func whoIsNotASenderIsRefusedBeforeTheBody() async throws {
    let bench = try await NoticeBench()
    let body = "{\"entity\":\"Booking\",\"key\":1}"
    #expect(await bench.send(body, token: nil).status == 401)
    #expect(await bench.send(body, token: String(repeating: "x", count: 32)).status == 401)
    #expect(await bench.send(body, path: "/notices/Other").status == 403)
    #expect(await bench.send(body, path: "/notices/Travel/more").status == 403)
    #expect(await bench.send(body, type: "text/xml").status == 415)
    #expect(await bench.send("{").status == 400)
  }

  @Test func aSignedBodyIsTaken() async throws {
    let bench = try await NoticeBench()
    let body = "{\"entity\":\"Booking\",\"key\":1}"
    func signature(_ body: String) -> HTTPHeaders {
      let mark = hexadecimal(
        SHA256Digest.authenticate(Array(body.utf8), key: Array(NoticeBench.secret.utf8)))
      return ["X-Hub-Signature-256": "sha256=\(mark)"]
    }
    #expect(await bench.send(body, token: nil, signature(body)).outcomes == ["readBack"])
    #expect(await bench.send(body + " ", token: nil, signature(body)).status == 401)
    #expect(await bench.send(body, token: nil, ["X-Hub-Signature-256": "sha256=00"]).status == 401)
  }

  @Test func aStandardWebhookHasFiveMinutes() async throws {
    let bench = try await NoticeBench()
    let body = "{\"entity\":\"Booking\",\"key\":1}"
    let now = bench.server.notices.world.clock.now.milliseconds / 1_000
    func send(_ id: String, _ seconds: Int64, signed: Int64? = nil) async -> NoticeBench.Answer {
      let text = Array("\(id).\(signed ?? seconds).\(body)".utf8)
      let mark = Base64.encode(SHA256Digest.authenticate(text, key: NoticeBench.webhook))
      return await bench.send(
        body, token: nil,
        [
          "Webhook-Id": id, "Webhook-Timestamp": String(seconds),
          "Webhook-Signature": "v1,\(Base64.encode([1, 2, 3])) v1,\(mark)",
        ])
    }
    #expect(await send("a", now).outcomes == ["readBack"])
    #expect(await send("a", now).outcomes == ["repeated"])
    #expect(await send("c", now - 301).status == 401)
    #expect(await send("e", now + 365 * 86_400).status == 401)
    #expect(await send("f", .min).status == 401)
    #expect(await send("g", now, signed: now - 1).status == 401)
  }

  @Test(arguments: [(-301, false), (-300, true), (0, true), (300, true), (301, false)])
  func theFiveMinutesAreExact(_ age: Int64, _ isGood: Bool) throws {
    let file = """
      {"senders": [
        {"name": "hook", "secret": "whsec_\(Base64.encode(NoticeBench.webhook))", "package": "Travel"}]}
      """
    let senders = try NoticeSenders(Array(file.utf8), name: "senders.json").senders
    let now: Int64 = 1_795_248_000
    let signed = Array("a.\(now - age).{}".utf8)
    let mark = Base64.encode(SHA256Digest.authenticate(signed, key: NoticeBench.webhook))
    let request = HTTPRequest(
      method: .post, path: "/notices/Travel",
      headers: [
        "Webhook-Id": "a", "Webhook-Timestamp": String(now - age),
        "Webhook-Signature": "v1,\(mark)",
      ], body: Array("{}".utf8))
    let finding = NoticeSignature.check(request, request.body, senders, now: now)
    if case .good(let sender, let id) = finding {
      #expect(isGood && sender.name == "hook" && id == "a")
    } else {
      #expect(!isGood)
    }
  }

  @Test func linesAreTakenEachByItself() async throws {
    let bench = try await NoticeBench()
    let lines = (1...1_200).map { "{\"id\":\"l\($0)\",\"entity\":\"Booking\",\"key\":\($0)}" }
    let answer = await bench.send(
      lines.joined(separator: "\n") + "\n\nno json\n", type: "application/x-ndjson")
    #expect(answer.status == 200)
    #expect(answer.json?["readBack"]?.integer == 1_200)
    #expect(answer.json?["refused"]?.integer == 1)
    #expect(answer.json?["refusals"]?.array?.first?["reason"]?.string == "line 1202 is no JSON")
  }

  @Test func cloudEventsAreTakenInBothModes() async throws {
    let bench = try await NoticeBench()
    let event =
      "{\"specversion\":\"1.0\",\"id\":\"7\",\"source\":\"/erp\",\"type\":\"changed\","
      + "\"data\":{\"id\":\"other\",\"entity\":\"Booking\",\"key\":1}}"
    let type = "application/cloudevents+json; charset=utf-8"
    #expect(await bench.send(event, type: type).outcomes == ["readBack"])
    #expect(await bench.send(event, type: type).outcomes == ["repeated"])
    let head: HTTPHeaders = [
      "ce-specversion": "1.0", "ce-id": "7", "ce-source": "/erp", "ce-type": "changed",
    ]
    let data = "{\"entity\":\"Booking\",\"key\":1}"
    #expect(await bench.send(data, head).outcomes == ["repeated"])
    var other = head
    other["ce-source"] = "/shop"
    #expect(await bench.send(data, other).outcomes == ["readBack"])
    other["ce-specversion"] = "0.3"
    #expect(await bench.send(data, other).outcomes == ["refused"])
    let batch = "[\(event),{\"specversion\":\"1.0\",\"id\":\"8\",\"source\":\"/erp\"}]"
    let answer = await bench.send(batch, type: "application/cloudevents-batch+json")
    #expect(answer.outcomes == ["repeated", "refused"])
  }

  @Test func togetherMeansAllOrNone() async throws {
    let bench = try await NoticeBench()
    let good = "{\"id\":\"1\",\"entity\":\"Booking\",\"key\":1}"
    let bad = "{\"id\":\"2\",\"entity\":\"Booking\"}"
    let answer = await bench.send("{\"together\":true,\"messages\":[\(good),\(bad)]}")
    #expect(answer.status == 422)
    #expect(answer.outcomes == ["skipped", "refused"])
    let each = await bench.send("{\"messages\":[\(good),\(bad)]}")
    #expect(each.status == 200)
    #expect(each.outcomes == ["readBack", "refused"])
  }

  @Test func aBodyOfAnotherShapeIsRead() async throws {
    let bench = try await NoticeBench()
    func send(_ body: String) async -> NoticeBench.Answer {
      await bench.send(body, token: NoticeBench.shop)
    }
    let events =
      "{\"nr\":1,\"kind\":\"new\",\"data\":{\"number\":1}},"
      + "{\"nr\":2,\"kind\":\"gone\",\"data\":{\"number\":\"2\"}},{\"nr\":3,\"data\":{}}"
    let answer = await send("{\"topic\":\"b\",\"events\":[\(events)]}")
    #expect(answer.outcomes == ["readBack", "readBack", "refused"])
    let again = await send("{\"topic\":\"b\",\"events\":[\(events)]}")
    #expect(again.outcomes == ["repeated", "repeated", "refused"])
    let other = await send("{\"topic\":\"c\",\"events\":[\(events)]}")
    #expect(other.status == 200)
    #expect(other.outcomes.isEmpty)
  }

  @Test(arguments: [
    "[]", "{\"senders\":[{\"name\":\"a\"}]}",
    "{\"senders\":[{\"name\":\"a\",\"package\":\"P\",\"token\":\"short\"}]}",
    "{\"senders\":[{\"name\":\"a\",\"package\":\"P\"}]}",
    "{\"senders\":[{\"name\":\"a\",\"package\":\"P\",\"secret\":\"whsec_!!!!!!!!!!!!!!!!!!\"}]}",
    "{\"senders\":[{\"name\":\"a\",\"package\":\"P\",\"token\":\"01234567890123456789\",\"entities\":[]}]}",
    "{\"sender\":[]}",
    "{\"senders\":[{\"name\":\"a\",\"package\":\"P\",\"token\":\"01234567890123456789\",\"shape\":{}}]}",
  ])
  func aWrongFileOfSendersIsRefused(_ text: String) {
    let error = #expect(throws: NoticeFileError.self) {
      try NoticeSenders(Array(text.utf8), name: "senders.json")
    }
    #expect(error?.hint.isEmpty == false)
  }
}
