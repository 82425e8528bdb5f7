import FerryHTTP
import FerryTestSupport
import Testing

@Suite("Lines of a head", .apart)
struct HeadTests {
  private static func answer(_ live: LiveServer, _ text: String, drips: Bool = false) -> String {
    let client = RawClient(live.port)
    if drips {
      for byte in Array(text.utf8) { client.send([byte]) }
    } else {
      client.send(text)
    }
    return client.receiveAll()
  }

  @Test("A line that does not end with CRLF, a folded one and a field without a name are refused")
  func lenient() throws {
    let live = try LiveServer { _ in .text(200, "taken") }
    for text in [
      "GET / HTTP/1.1\nHost: a\r\nConnection: close\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\nConnection: close\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX:\nConnection: close\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\nConnection: close\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: y\r\n\tz\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\n: 1\r\nConnection: close\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: y\nContent-Length: 3\r\n\r\nabc",
    ] {
      for drips in [false, true] {
        let answer = Self.answer(live, text, drips: drips)
        #expect(!answer.contains("taken") && answer.contains(" 400 "), "\(text): \(answer)")
      }
    }
    #expect(live.stop())
  }

  @Test("Whole lines are taken, however they come")
  func whole() throws {
    let live = try LiveServer { request in .text(200, "taken \(request.headers.fields.count)") }
    let long = String(repeating: "a", count: 6_000)
    for (text, count) in [
      ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 2),
      ("GET /?a=b&c=d HTTP/1.1\r\nHost: a\r\nCookie: a=b; c=d\r\nConnection: close\r\n\r\n", 3),
      ("GET / HTTP/1.1\r\nHost: a\r\nX:\r\nY: \r\nZ:  y \r\nConnection: close\r\n\r\n", 5),
      ("GET / HTTP/1.1\r\nHost: a\r\nX: \(long)\r\nConnection: close\r\n\r\n", 3),
      ("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 2),
      ("GET / HTTP/1.0\r\n\r\n", 0),
      ("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc", 3),
    ] {
      for drips in [false, true] {
        let answer = Self.answer(live, text, drips: drips)
        #expect(answer.contains("taken \(count)"), "\(text.prefix(100)): \(answer)")
      }
    }
    // Behind one another on one connection.
    let client = RawClient(live.port)
    let first = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
    client.send(first + first + "GET / HTTP/1.1\r\nConnection: close\r\nHost: a\r\n\r\n")
    #expect(client.receiveAll().split(separator: "taken 2").count >= 3)
    #expect(live.stop())
  }
}
