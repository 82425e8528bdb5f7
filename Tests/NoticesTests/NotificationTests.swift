import FerryHTTP
import FerryJSON
import FerryModel
import FerryTestKit
import FerryTravel
import Testing

@testable import FerryNotices

/// Data change notifications in the reference's form, one test for each form of a message.
@Suite(.timeLimit(.minutes(60)))
struct NotificationTests {
  private let package = Travel.package.id

  /// The lines of an answer: id, success, message.
  private func lines(_ answer: NoticeBench.Answer) -> [String] {
    (answer.json?.array ?? []).map { line in
      let id = line["recordID"]?.string ?? "?"
      let isSuccess = line["success"]?.boolean == true
      return "\(id) \(isSuccess) \(line["statusMessage"]?.string ?? "?")"
    }
  }

  @Test func anUpsertHasTheKeyAndWhatIsChanged() async throws {
    let bench = try await NoticeBench()
    await bench.becomeCalm()
    let answer = await bench.dcn(
      "[{\"id\":\"1\",\"mbo\":\"Booking\",\"op\":\":upsert\","
        + "\"cols\":{\"bookingID\":\"1\",\"passenger\":\"Adam\",\"seats\":\"2\"}}]")
    #expect(answer.status == 200)
    #expect(answer.text == "[{\"recordID\":\"1\",\"success\":true,\"statusMessage\":\"\"}]")
    let row = try await bench.values("Booking", "1")
    #expect(row?["passenger"] == .text("Adam"))
    #expect(row?["seats"] == .integer(2))
    #expect(row?["cabin"] == .text("economy"))
  }

  @Test func aDeleteHasTheKey() async throws {
    let bench = try await NoticeBench()
    await bench.becomeCalm()
    let answer = await bench.dcn(
      "[{\"id\":\"2\",\"mbo\":\"Booking\",\"op\":\":delete\",\"cols\":{\"bookingID\":\"2\"}}]")
    #expect(lines(answer) == ["2 true "])
    #expect(try await bench.values("Booking", "2") == nil)
  }

  @Test func anotherOperationIsPerformed() async throws {
    let bench = try await NoticeBench()
    let answer = await bench.dcn(
      "[{\"id\":\"3\",\"mbo\":\"Booking\",\"op\":\"create\",\"cols\":{\"agencyID\":\"A07\","
        + "\"flightID\":\"318\",\"passenger\":\"Eva\",\"cabin\":\"economy\",\"seats\":\"1\","
        + "\"price\":\"99.5\"}}]")
    #expect(lines(answer) == ["3 true "])
    #expect(bench.server.rows(of: Booking.self).count == 4)
  }

  @Test func anOperationThatIsNotThereFails() async throws {
    let bench = try await NoticeBench()
    let answer = await bench.dcn(
      "[{\"id\":\"3\",\"mbo\":\"Booking\",\"op\":\"UpdateBooking\",\"cols\":{\"bookingID\":\"1\"}}]"
    )
    #expect(lines(answer) == ["3 false Booking has no operation UpdateBooking"])
  }

  @Test func oneThatFailsTakesAllWithIt() async throws {
    let bench = try await NoticeBench()
    await bench.becomeCalm()
    func upsert(_ id: Int, _ columns: String) -> String {
      "{\"id\":\"\(id)\",\"mbo\":\"Booking\",\"op\":\":upsert\",\"cols\":{\(columns)}}"
    }
    let answer = await bench.dcn(
      "[" + upsert(1, "\"bookingID\":\"1\",\"passenger\":\"Adam\"") + ","
        + upsert(2, "\"passenger\":\"Eva\"") + ","
        + upsert(3, "\"bookingID\":\"3\",\"passenger\":\"Ada\"") + "]")
    #expect(
      lines(answer) == [
        "1 false rolled back: a later message of the request failed",
        "2 false the key attribute bookingID is missing",
        "3 false skipped: an earlier message of the request failed",
      ])
    #expect(try await bench.values("Booking", "1")?["passenger"] == .text("p 1"))
  }

  @Test func namesOfAttributesHaveTheirCase() async throws {
    let bench = try await NoticeBench()
    let answer = await bench.dcn(
      "[{\"id\":\"1\",\"mbo\":\"Booking\",\"op\":\":upsert\",\"cols\":{\"BookingID\":\"1\"}}]")
    #expect(lines(answer) == ["1 false Booking has no attribute BookingID"])
  }

  /// Several messages of one object are one row.
  @Test func laterMessagesOfAnObjectAddToEarlierOnes() async throws {
    let bench = try await NoticeBench()
    await bench.becomeCalm()
    let answer = await bench.dcn(
      "[{\"id\":\"1\",\"mbo\":\"Booking\",\"op\":\":upsert\",\"cols\":{\"bookingID\":\"1\","
        + "\"passenger\":\"Adam\",\"seats\":\"2\"}},{\"id\":\"2\",\"mbo\":\"Booking\","
        + "\"op\":\":upsert\",\"cols\":{\"bookingID\":\"1\",\"seats\":\"3\"}}]")
    #expect(lines(answer) == ["1 true ", "2 true "])
    let row = try await bench.values("Booking", "1")
    #expect(row?["passenger"] == .text("Adam"))
    #expect(row?["seats"] == .integer(3))
  }

  @Test func theRequestMayBeAGet() async throws {
    let bench = try await NoticeBench()
    let request = "{\"pkg\":\"\(package)\",\"messages\":[]}"
    let query =
      "cmd=dcn&package=\(PercentEncoding.encode(package))&domain=default&security=admin"
      + "&dcn_request=\(PercentEncoding.encode(request))"
    let answer = await bench.dcn(HTTPRequest(method: .get, path: NoticeBench.dcn, query: query))
    #expect(answer.status == 200)
    #expect(answer.text == "[]")
  }

  @Test func theParametersMayBeAForm() async throws {
    let bench = try await NoticeBench()
    let request = "{\"pkg\":\"\(package)\",\"messages\":[]}"
    let form =
      "cmd=dcn&username=erp&password=any&package=\(PercentEncoding.encode(package))"
      + "&dcn_request=\(PercentEncoding.encode(request))"
    let answer = await bench.dcn(
      HTTPRequest(
        method: .post, path: "/dcn/DCNServlet",
        headers: ["Content-Type": "application/x-www-form-urlencoded"], body: Array(form.utf8)),
      user: nil)
    #expect(answer.status == 200)
  }

  @Test func aPasswordInTheAddressIsRefusedUnlessSwitchedOn() async throws {
    for isOn in [false, true] {
      let bench = try await NoticeBench(passwordInAddress: isOn)
      let body = "{\"pkg\":\"\(package)\",\"messages\":[]}"
      let answer = await bench.dcn(
        HTTPRequest(
          method: .post, path: "/dcn/DCNServlet",
          query: "cmd=dcn&username=erp&password=any&package=\(package)", body: Array(body.utf8)),
        user: nil)
      #expect(answer.status == (isOn ? 200 : 400))
      #expect(!answer.text.contains("any&"))
    }
  }

  @Test func theOldAddressGroupsItsAnswer() async throws {
    let bench = try await NoticeBench(passwordInAddress: true)
    let body =
      "{\"pkg\":\"\(package)\",\"messages\":["
      + (1...2).map {
        "{\"id\":\"\($0)\",\"mbo\":\"Booking\",\"op\":\":upsert\",\"cols\":{\"bookingID\":\"\($0)\"}}"
      }.joined(separator: ",") + "]}"
    let answer = await bench.dcn(
      HTTPRequest(
        method: .post, path: "/onepage/servlet/UWPServlet",
        query: "cmd=dcn&username=erp&password=any&package=\(package)", body: Array(body.utf8)),
      user: nil)
    #expect(
      answer.text == "[{\"recordIDs\":[\"1\",\"2\"],\"success\":true,\"statusMessage\":\"\"}]")
  }

  @Test func whatIsWrongHasTheReferencesStatus() async throws {
    let bench = try await NoticeBench()
    let good = "{\"pkg\":\"\(package)\",\"messages\":[]}"
    func status(_ query: String, _ body: String = good, user: String? = "erp") async -> Int {
      await bench.dcn(
        HTTPRequest(
          method: .post, path: NoticeBench.dcn, query: query, body: Array(body.utf8)), user: user
      ).status
    }
    let query = "cmd=dcn&package=\(package)"
    #expect(await status(query) == 200)
    #expect(await status("package=\(package)") == 400)
    #expect(await status("cmd=wf&package=\(package)") == 400)
    #expect(await status("cmd=dcn&cmd=dcn&package=\(package)") == 400)
    #expect(await status(query, "{") == 400)
    #expect(await status(query, "{\"messages\":{}}") == 400)
    #expect(await status(query, "{\"messages\":[{\"id\":\"1\"}]}") == 400)
    #expect(await status("cmd=dcn&package=Nothing:1.0", "{\"messages\":[]}") == 400)
    #expect(await status("cmd=dcn&package=Travel:9.9", "{\"messages\":[]}") == 400)
    let unknown =
      "{\"messages\":[{\"id\":\"1\",\"mbo\":\"Nothing\",\"op\":\":delete\",\"cols\":{}}]}"
    #expect(await status(query, unknown) == 400)
    #expect(await status(query + "&dcn_filter=com.example.Filter") == 500)
    #expect(await status(query, user: nil) == 401)
    #expect(await status(query, user: "nobody") == 401)
    #expect(await status(query, user: "nancy") == 403)
    let cmd = await bench.dcn(
      HTTPRequest(method: .post, path: NoticeBench.dcn, query: "cmd=wf", body: Array(good.utf8)))
    #expect(cmd.text.contains("cmd=wf"))
  }

  /// Of dates the zone is ignored; bytes are hexadecimal digits.
  @Test func valuesAreStrings() {
    func value(_ text: String, _ type: AttributeType) -> AttributeValue? {
      guard let node = try? JSONNode.parse(Array("\"\(text)\"".utf8)) else { return nil }
      return DCNValue.read(
        node, Attribute(name: "a", column: "a", type: type, isNullable: true))
    }
    #expect(value("2013-01-31T23:59:59", .dateTime) == .text("2013-01-31T23:59:59"))
    #expect(value("2013-01-31T23:59:59+02:00", .dateTime) == .text("2013-01-31T23:59:59"))
    #expect(value("2013-01-31T23:59:59.5Z", .dateTime) == .text("2013-01-31T23:59:59.5"))
    #expect(value("0x0aFF", .binary) == .bytes([10, 255]))
    #expect(value("0x0", .binary) == nil)
    #expect(value("7", .long) == .integer(7))
    #expect(value("7.50", .decimal) == .text("7.5"))
    #expect(value("true", .boolean) == .boolean(true))
    #expect(value("x", .int) == nil)
  }
}
