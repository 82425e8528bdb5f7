import FerryHTTP
import FerryHTTPClient
import FerryTestSupport
import FerryTestTraits
import Foundation
import Synchronization
import Testing

/// Makes a body of so many bytes, and counts how often it was asked.
final class CountingSource: TransportBodySource {
  struct Broken: Error {}
  let pieces: Int
  let bytes: Int
  let breaksAt: Int?
  private let given = Mutex(0)

  init(pieces: Int, bytes: Int = 1000, breaksAt: Int? = nil) {
    self.pieces = pieces
    self.bytes = bytes
    self.breaksAt = breaksAt
  }

  var count: Int { given.withLock { $0 } }

  func next() async throws -> [UInt8]? {
    let number = given.withLock { count in
      count += 1
      return count
    }
    if number == breaksAt { throw Broken() }
    return number > pieces ? nil : [UInt8](repeating: 7, count: bytes)
  }
}

@Suite("Bodies up, and pieces down")
struct UploadTests {
  /// Answers with the head and the number of bytes of what came.
  private static func server() -> ScriptedServer {
    ScriptedServer { line in
      let head = line.receiveHead()
      if head.contains("Expect:") { line.send("HTTP/1.1 100 Continue\r\n\r\n") }
      var count = 0
      if let length = head.split(separator: "\r\n").first(where: { $0.hasPrefix("Content-Length:") }
      )
      .flatMap({ Int($0.dropFirst(15).drop { $0 == " " }) }) {
        count = line.receive(length)
      } else {
        while true {
          let size = Int(line.receiveLine(), radix: 16) ?? 0
          if size == 0 { break }
          count += line.receive(size)
          _ = line.receiveLine()
        }
        _ = line.receiveLine()
      }
      let text = "\(count) \(head.contains("chunked"))"
      line.send("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
    }
  }

  @Test(
    "A body comes from bytes, a file or a source, its length known or not",
    .reference("ios/REQ-9", "ios/REQ-16", "ios/CS-17", "ios/CS-121", "adr/STR-6")
  )
  func forms() async throws {
    let server = Self.server()
    defer { server.close() }
    let file = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(count: 700_000).write(to: file)
    let uploads: [TransportUpload?] = [
      nil, try .file(file.path), .source(lengthBytes: 5000) { CountingSource(pieces: 5) },
      .source { CountingSource(pieces: 300, bytes: 3000) },
    ]
    let expected = ["3 false", "700000 false", "5000 false", "900000 true"]
    for (upload, text) in zip(uploads, expected) {
      var request = TransportRequest(url: server.url, method: .post, body: [1, 2, 3])
      request.upload = upload
      #expect(try await answer(CurlTransport(), request).text == text)
    }
  }

  @Test("A source is asked only as fast as its bytes leave, and cancelling ends it")
  func pulled() async throws {
    let server = ScriptedServer { line in
      _ = line.receiveHead()
      _ = line.waitForSilence()
    }
    defer { server.close() }
    let source = CountingSource(pieces: 100_000, bytes: 100_000)
    var request = TransportRequest(
      url: server.url, method: .post, deadlines: TransportDeadlines(idle: nil))
    request.upload = .source { source }
    let task = Task { [request] in await failure(CurlTransport(), request) }
    // Nobody reads: the source comes to rest when the system's buffers are full.
    #expect(await isTrue { source.count > 0 })
    let last = await Patience.rest { source.count }
    #expect(last * 100_000 < CurlTransportTests.systemBuffers() + (2 << 20))
    task.cancel()
    #expect(await task.value?.code == .cancelled)
  }

  @Test(
    "A file that is not there, and a source that breaks or ends early, are named and end the request"
  )
  func unreadable() async throws {
    #expect(throws: TransportError.self) { try TransportUpload.file("/nowhere/at/all") }
    let server = Self.server()
    defer { server.close() }
    for upload in [
      TransportUpload.source(lengthBytes: 9000) { CountingSource(pieces: 5) },
      .source { CountingSource(pieces: 5, breaksAt: 3) }, .source { nil },
    ] {
      var request = TransportRequest(url: server.url, method: .put)
      request.upload = upload
      let error = await failure(CurlTransport(), request)
      #expect(error?.code == .unreadableBody, "\(error as Any)")
    }
  }

  @Test(
    "Progress counts both ways up to what is announced",
    .reference("ios/REQ-31", "ios/CON-7", "ios/CS-86"))
  func progress() async throws {
    let server = Self.server()
    defer { server.close() }
    let seen = Mutex<[TransportProgress]>([])
    var request = TransportRequest(url: server.url, method: .post)
    request.upload = .source(lengthBytes: 300_000) { CountingSource(pieces: 3, bytes: 100_000) }
    request.progress = { now in seen.withLock { $0.append(now) } }
    #expect(try await answer(CurlTransport(), request).text == "300000 false")
    let steps = seen.withLock { $0 }
    #expect(steps.count >= 4)
    #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.sentBytes <= $1.sentBytes })
    #expect(steps.allSatisfy { $0.toSendBytes == 300_000 })
    #expect(steps.last?.sentBytes == 300_000)
    #expect(steps.last?.receivedBytes == 12 && steps.last?.toReceiveBytes == 12)
  }

  @Test(
    "Pieces are 100 KB at most by default, 200 KB at most in any case",
    .reference("ios/REQ-15", "ios/CS-16"))
  func pieces() async throws {
    #expect(TransportRequest(url: "").pieceBytes == 102_400)
    let server = ScriptedServer { line in
      _ = line.receiveHead()
      line.send("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n")
      line.send([UInt8](repeating: 1, count: 2_000_000))
    }
    defer { server.close() }
    for (wanted, most) in [(nil, 102_400), (50_000, 50_000), (10_000_000, 204_800)] as [(Int?, Int)]
    {
      var request = TransportRequest(url: server.url)
      if let wanted { request.pieceBytes = wanted }
      let response = try await CurlTransport().send(request)
      var sizes: [Int] = []
      while let piece = try await response.body.next() {
        sizes.append(piece.count)
        // A slow reader finds full pieces.
        if sizes.count < 5 { for _ in 0..<3 { Patience.moment() } }
      }
      #expect(sizes.reduce(0, +) == 2_000_000)
      #expect(sizes.max() == most)
    }
  }

  @Test(
    "The bytes of all bodies share one bandwidth, on a mobile network only where asked",
    .reference("ios/REQ-28", "ios/REQ-29")
  )
  func bandwidth() async throws {
    let server = ScriptedServer { line in
      _ = line.receiveHead()
      line.send("HTTP/1.1 200 OK\r\nContent-Length: 150000\r\n\r\n")
      line.send([UInt8](repeating: 1, count: 150_000))
    }
    defer { server.close() }
    let mobile = TransportBandwidth(limitBytesPerSecond: 60_000, isForCellularOnly: true)
    var options = TransportOptions()
    options.bandwidth = mobile
    let transport = CurlTransport(options)
    #expect(
      try await answer(transport, TransportRequest(url: server.url)).text.utf8.count == 150_000)
    #expect(!mobile.isThrottled)
    mobile.isOnCellular = true
    let patience = Patience()
    #expect(
      try await answer(transport, TransportRequest(url: server.url)).text.utf8.count == 150_000)
    // Three seconds have a part in it, the one in the middle as a whole.
    #expect(patience.passed > .milliseconds(1000))
  }
}
