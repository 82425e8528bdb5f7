import FerryHTTP
import FerryTestSupport
import Glibc
import Testing

@testable import FerryHTTPServer

@Suite("Connections of proxies that say who their client is", .apart)
struct GreetingTests {
  private static let signature: [UInt8] = [
    0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
  ]
  private static let block4: [UInt8] =
    signature + [0x21, 0x11, 0, 12, 192, 0, 2, 7, 10, 0, 0, 1, 0x12, 0x34, 1, 0xBB]
  private static let block6: [UInt8] =
    signature + [0x21, 0x21, 0, 40] + [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11)
    + [9] + [UInt8](repeating: 0, count: 24)

  private static func read(_ bytes: [UInt8], by step: Int) -> ProxyGreeting.State {
    var greeting = ProxyGreeting()
    var place = 0
    while place < bytes.count, greeting.state == .reading {
      let count = min(step, greeting.wanted, bytes.count - place)
      greeting.take(bytes[place..<place + count])
      place += count
    }
    // Never a byte behind it.
    if case .whole = greeting.state { #expect(place == bytes.count) }
    return greeting.state
  }

  @Test("Both versions are read, in pieces of any size")
  func versions() {
    let cases: [([UInt8], ProxyGreeting.State)] = [
      (Array("PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n".utf8), .whole("192.0.2.1")),
      (Array("PROXY TCP6 2001:db8::1 ::1 1 2\r\n".utf8), .whole("2001:db8::1")),
      (Array("PROXY UNKNOWN\r\n".utf8), .whole(nil)),
      (Array("PROXY UNKNOWN ff::1 x y z\r\n".utf8), .whole(nil)),
      (Self.block4, .whole("192.0.2.7")), (Self.block6, .whole("2001:db8::9")),
      (Self.signature + [0x20, 0x00, 0, 0], .whole(nil)),
      (Self.signature + [0x21, 0x00, 0, 0], .whole(nil)),
      (Array("GET / HTTP/1.1\r\n".utf8), .bad),
      (Array("PROXY TCP4 192.0.2.1 198.51.100.1 56324\r\n".utf8), .bad),
      (Array("PROXY TCP4 2001:db8::1 ::1 1 2\r\n".utf8), .bad),
      (Array("PROXY TCP4 192.0.2.1 198.51.100.1 563240 443\r\n".utf8), .bad),
      (Array("PROXY TCP4 192.0.2.1  198.51.100.1 1 443\r\n".utf8), .bad),
      (Array(("PROXY " + String(repeating: "x", count: 200)).utf8), .bad),
      (Self.signature + [0x11, 0x11, 0, 0], .bad),
      (Self.signature + [0x21, 0x11, 0, 4, 1, 2, 3, 4], .bad),
      (Self.signature + [0x21, 0x31, 0, 0], .bad),
      (Self.signature + [0x21, 0x11, 0xFF, 0xFF], .bad),
      (Array("PROXY TCP4 192.0".utf8), .reading),
    ]
    for (bytes, state) in cases {
      for step in [1, 7, 500] { #expect(Self.read(bytes, by: step) == state, "\(bytes)") }
    }
  }

  private static func server(_ proxies: Set<String>) throws -> LiveServer {
    try LiveServer(proxies: proxies, greetings: true) { request in
      .text(200, "client \(request.peer ?? "")\n")
    }
  }

  private static let request = Array(
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8)

  @Test("The client's address is the one that a named proxy says")
  func named() throws {
    let live = try Self.server(["127.0.0.2"])
    for (greeting, address) in [
      (Array("PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n".utf8), "192.0.2.1"),
      (Self.block4, "192.0.2.7"), (Self.block6, "2001:db8::9"),
      (Array("PROXY UNKNOWN\r\n".utf8), "127.0.0.2"),
    ] {
      let whole = RawClient(live.port, from: "127.0.0.2")
      whole.send(greeting + Self.request)
      #expect(whole.receiveAll().contains("client \(address)\n"))
      let drip = RawClient(live.port, from: "127.0.0.2")
      for byte in greeting + Self.request { drip.send([byte]) }
      #expect(drip.receiveAll().contains("client \(address)\n"))
    }
    #expect(live.stop())
  }

  @Test("A named proxy that does not say it is cut, and others say nothing")
  func others() throws {
    let live = try Self.server(["127.0.0.2"])
    let silent = RawClient(live.port, from: "127.0.0.2")
    silent.send(Self.request)
    #expect(!silent.receiveAll().contains("client"))
    let plain = RawClient(live.port)
    plain.send(Self.request)
    #expect(plain.receiveAll().contains("client 127.0.0.1\n"))
    let liar = RawClient(live.port)
    liar.send(Array("PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n".utf8) + Self.request)
    #expect(!liar.receiveAll().contains("client 192.0.2.1"))
    // One that begins and goes away leaves nothing behind.
    for _ in 0..<50 { RawClient(live.port, from: "127.0.0.2").send("PROXY ") }
    let last = RawClient(live.port, from: "127.0.0.2")
    last.send(Self.block4 + Self.request)
    #expect(last.receiveAll().contains("client 192.0.2.7\n"))
    #expect(live.stop())
  }

  @Test("Who begins and does not go on is cut at the deadline of the head")
  func slow() throws {
    var limits = HTTPServerLimits()
    limits.headTime = .milliseconds(300)
    let live = try LiveServer(limits: limits, proxies: ["127.0.0.2"], greetings: true) { _ in
      .text(200, "hello")
    }
    let slow = RawClient(live.port, from: "127.0.0.2")
    slow.send("PROXY TCP4 ")
    #expect(slow.receiveAll().isEmpty)
    #expect(live.stop())
  }
}
