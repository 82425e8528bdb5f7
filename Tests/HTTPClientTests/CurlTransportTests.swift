import FerryHTTP
import FerryHTTPClient
import FerryTestSupport
import Glibc
import Synchronization
import Testing

/// The error that a transfer ends with, however far it came.
func failure(
  _ transport: any Transport, _ request: TransportRequest
) async -> TransportError? {
  do throws(TransportError) {
    let response = try await transport.send(request)
    while try await response.body.next() != nil {}
    return nil
  } catch {
    return error
  }
}

func isTrue(_ isSo: () -> Bool) async -> Bool {
  let patience = Patience()
  while !isSo() { guard await patience.lasts() else { return false } }
  return true
}

@Suite("libcurl as transport")
struct CurlTransportTests {
  @Test("Nobody there: cannot connect, and certain that nothing was sent")
  func nobody() async {
    // Ours, so that nobody else can listen there.
    let silent = FullListener(listens: false)
    let error = await failure(
      CurlTransport(),
      TransportRequest(url: "http://127.0.0.1:\(silent.port)/", method: .post, body: [1]))
    #expect(error?.code == .cannotConnect)
    #expect(error?.requestWasSent == false)
    #expect(error?.isTransient == true)
  }

  @Test("An address that is none is named so", arguments: ["", "http://", "ftp://127.0.0.1/"])
  func noAddress(_ url: String) async {
    let error = await failure(CurlTransport(), TransportRequest(url: url))
    #expect(error?.code == .invalidURL)
    #expect(error?.requestWasSent == false)
  }

  @Test("A header with a line break is not sent")
  func splitting() async {
    let error = await failure(
      CurlTransport(),
      TransportRequest(url: "http://127.0.0.1:9/", headers: ["A": "b\r\nC: d"]))
    #expect(error?.code == .invalidURL)
  }

  @Test(
    "A body that ends early is an error, not an end",
    arguments: [
      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nabc",
    ])
  func cut(_ answer: String) async throws {
    let server = ScriptedServer { line in
      _ = line.receiveHead()
      line.send(answer)
    }
    defer { server.close() }
    let response = try await CurlTransport().send(TransportRequest(url: server.url))
    #expect(response.status == 200)
    var all: [UInt8] = []
    let error = await #expect(throws: TransportError.self) {
      while let piece = try await response.body.next() { all += piece }
    }
    #expect(all == Array("abc".utf8))
    #expect(error?.code == .cut)
    #expect(error?.requestWasSent == true)
    let again = await #expect(throws: TransportError.self) { try await response.body.next() }
    #expect(again?.code == .cut)
  }

  @Test("A connection cut before the head: the request may have been done, and is not sent twice")
  func cutBeforeHead() async throws {
    // The connections on which a request was seen.
    let seen = Mutex<[Int]>([])
    let server = ScriptedServer { line in
      while !line.receiveHead().isEmpty {
        let count = seen.withLock { seen in
          seen.append(line.number)
          return seen.count
        }
        if count > 1 { return }
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      }
    }
    defer { server.close() }
    let transport = CurlTransport()
    for body in [[UInt8]]([[1, 2, 3], []]) {
      seen.withLock { $0 = [] }
      let request = TransportRequest(url: server.url, method: .post, body: body)
      let first = await failure(transport, TransportRequest(url: server.url))
      #expect(first == nil)
      let error = await failure(transport, request)
      #expect(error?.code == .cut)
      #expect(error?.requestWasSent == true)
      #expect(seen.withLock { $0.count } == 2, "seen on \(seen.withLock { $0 })")
    }
  }

  @Test("A server that says nothing ends the wait at the idle deadline")
  func silent() async {
    let heads = Atomic<Int>(0)
    let server = ScriptedServer { line in
      if !line.receiveHead().isEmpty { heads.add(1, ordering: .relaxed) }
      _ = line.waitForEnd()
    }
    defer { server.close() }
    let request = TransportRequest(
      url: server.url, deadlines: TransportDeadlines(idle: .milliseconds(300)))
    // It runs from the moment at which the request was sent, however late that is.
    let error = await failure(CurlTransport(), request)
    #expect(error?.code == .timedOut)
    #expect(error?.requestWasSent == true)
    #expect(await isTrue { heads.load(ordering: .relaxed) > 0 })
  }

  @Test("A dripping server does not gain time on the total deadline")
  func dripping() async {
    let server = ScriptedServer { line in
      _ = line.receiveHead()
      line.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
      while line.send("a") { Patience.moment() }
    }
    defer { server.close() }
    let deadlines = TransportDeadlines(total: .milliseconds(400), idle: .milliseconds(300))
    let error = await failure(
      CurlTransport(), TransportRequest(url: server.url, deadlines: deadlines))
    #expect(error?.code == .timedOut)
  }

  @Test("A connection that is never made ends at the connect deadline, with nothing sent")
  func unreachable() async {
    // Listens, but its queue is full: the system answers nobody.
    let full = FullListener()
    let error = await failure(
      CurlTransport(),
      TransportRequest(
        url: "http://127.0.0.1:\(full.port)/",
        deadlines: TransportDeadlines(connect: .milliseconds(400))))
    #expect(error?.code == .timedOut)
    #expect(error?.requestWasSent == false)
  }

  @Test("Cancelling the task ends the transfer, before the head and in the body")
  func cancelling() async {
    let ended = Mutex(0)
    let server = ScriptedServer { line in
      if line.receiveHead().hasPrefix("GET /body") {
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
      }
      if line.waitForEnd() { ended.withLock { $0 += 1 } }
    }
    defer { server.close() }
    let transport = CurlTransport()
    for (index, path) in ["head", "body"].enumerated() {
      let task = Task { await failure(transport, TransportRequest(url: server.url + path)) }
      #expect(await isTrue { server.connections == index + 1 })
      task.cancel()
      #expect(await task.value?.code == .cancelled)
      #expect(await isTrue { ended.withLock { $0 } == index + 1 })
    }
    // A task that was cancelled before it began sends nothing.
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await failure(transport, TransportRequest(url: server.url))
    }
    #expect(await late.value?.requestWasSent == false)
    #expect(server.connections == 2)
  }

  @Test("Letting go of the response ends the transfer")
  func dropping() async throws {
    let ended = Mutex(false)
    let server = ScriptedServer { line in
      _ = line.receiveHead()
      line.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
      let end = line.waitForEnd()
      ended.withLock { $0 = end }
    }
    defer { server.close() }
    let transport = CurlTransport()
    do {
      let response = try await transport.send(TransportRequest(url: server.url))
      #expect(try await response.body.next() == Array("abc".utf8))
    }
    #expect(await isTrue { ended.withLock { $0 } })
  }

  @Test("A slow reader slows the sender, and nothing is lost (sync download of any size)")
  func backPressure() async throws {
    let sent = Atomic<Int>(0)
    let total = 64 << 20
    let server = ScriptedServer { line in
      _ = line.receiveHead()
      line.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
      for block in 0..<(total >> 16) {
        guard line.send([UInt8](repeating: UInt8(truncatingIfNeeded: block), count: 1 << 16))
        else { return }
        sent.add(1 << 16, ordering: .relaxed)
      }
    }
    defer { server.close() }
    let idle = Duration.seconds(10)
    let response = try await CurlTransport().send(
      TransportRequest(url: server.url, deadlines: TransportDeadlines(idle: idle)))
    // The sender comes to rest, longer than the idle deadline: that of a slow reader does not count.
    let fills = await isTrue { sent.load(ordering: .relaxed) >= TransportLimits.bufferedBytes }
    #expect(fills, "only \(sent.load(ordering: .relaxed)) bytes were taken")
    let last = await Patience.rest(idle + .seconds(1)) { sent.load(ordering: .relaxed) }
    // Ours, and the system's buffers of both ends.
    #expect(last < TransportLimits.bufferedBytes + Self.systemBuffers())
    var count = 0
    while let piece = try await response.body.next() {
      #expect(piece.count <= TransportLimits.bufferedBytes + 65_536)
      #expect(piece.first == UInt8(truncatingIfNeeded: count >> 16))
      count += piece.count
    }
    #expect(count == total)
  }

  @Test("An interim answer is not the answer")
  func interim() async throws {
    let server = ScriptedServer { line in
      _ = line.receiveHead()
      line.send("HTTP/1.1 103 Early\r\nX-A: 1\r\n\r\nHTTP/1.1 404 No\r\nX-B:2\r\n\r\n")
    }
    defer { server.close() }
    let response = try await CurlTransport().send(TransportRequest(url: server.url))
    #expect(response.status == 404)
    #expect(response.headers["X-A"] == nil)
    #expect(response.headers["X-B"] == "2")
    #expect(try await response.body.next() == nil)
  }

  /// What the system may keep of a connection, at both ends: as it is set up, at least 16 MB.
  static func systemBuffers() -> Int {
    let sizes = ["rmem", "wmem"].map { name -> Int in
      let file = open("/proc/sys/net/ipv4/tcp_\(name)", O_RDONLY)
      guard file >= 0 else { return 0 }
      defer { close(file) }
      var text = [UInt8](repeating: 0, count: 128)
      let count = read(file, &text, text.count)
      let words = String(decoding: text.prefix(max(0, count)), as: UTF8.self).split {
        $0 == "\t" || $0 == "\n" || $0 == " "
      }
      return words.last.flatMap { Int($0) } ?? 0
    }
    return max(16 << 20, sizes.reduce(1 << 20, +))
  }
}

/// A socket that holds a port: listening, but its queue is full, or not even listening.
final class FullListener {
  let port: Int
  private var sockets: [CInt] = []

  init(listens: Bool = true) {
    let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(listener, $0, length)
        if listens { _ = listen(listener, 0) }
        _ = getsockname(listener, $0, &length)
      }
    }
    port = Int(UInt16(bigEndian: address.sin_port))
    sockets = [listener]
    guard listens else { return }
    for _ in 0..<4 {
      let client = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
      _ = Self.connect(client, port)
      sockets.append(client)
    }
  }

  deinit { sockets.forEach { close($0) } }

  static func connect(_ socket: CInt, _ port: Int) -> CInt {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    return withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
