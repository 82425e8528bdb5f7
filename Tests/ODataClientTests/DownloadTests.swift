import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataClient
import FerryTestSupport
import FerryTestTraits
import Glibc
import Synchronization
import Testing

@Suite("Downloads piece by piece")
struct DownloadTests {
  private static let whole = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

  /// Serves `whole`, cut after some bytes at each connection that is not the last.
  private static func server(
    cuts: Int, _ heads: Kept, status: Int? = nil, etag: String? = "\"1\"", laterETag: String? = nil,
    shift: Int = 0
  ) -> ScriptedServer {
    ScriptedServer { line in
      let head = line.receiveHead()
      heads.list.withLock { $0.append(head) }
      let fields = head.split(separator: "\r\n")
      let range = fields.first { $0.lowercased().hasPrefix("range:") }
      let start = range.flatMap { Int($0.drop { $0 != "=" }.dropFirst().prefix { $0 != "-" }) } ?? 0
      let isPart = range != nil && status == nil
      let tag = range == nil ? etag : laterETag ?? etag
      var text = isPart ? "HTTP/1.1 206 Partial\r\n" : "HTTP/1.1 200 OK\r\n"
      if let tag { text += "ETag: \(tag)\r\n" }
      text += "Set-Cookie: s=4; Path=/\r\n"
      let body = Array(whole[(isPart ? start + shift : 0)...])
      if isPart {
        text += "Content-Range: bytes \(start + shift)-\(whole.count - 1)/\(whole.count)\r\n"
      }
      text += "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
      line.send(text)
      line.send(line.number <= cuts ? Array(body.prefix(150_000)) : body)
    }
  }

  final class Kept: Sendable { let list = Mutex<[String]>([]) }

  @Test(
    "Pieces are of the size asked for: 100 KB by default, 200 KB at most",
    .reference(
      "ios/REQ-15", "ios/CS-16", "ios/CS-19", "adr/STR-1", "adr/STR-2", "adr/A47", "adr/A48",
      "adr/B19", "adr/B20")
  )
  func pieces() async throws {
    #expect(ODataDownload.chunkBytes == 102_400)
    let heads = Kept()
    let server = Self.server(cuts: 0, heads)
    defer { server.close() }
    for (asked, size) in [(nil, 102_400), (50_000, 50_000), (1 << 30, 204_800)] as [(Int?, Int)] {
      let session = ODataSession(SystemTransport.make())
      let request = ODataRequest(server.url + "FlightCollection")
      let download =
        if let asked {
          try await session.download(request, chunkBytes: asked)
        } else { try await session.download(request) }
      #expect(download.isDataAvailable && download.totalBytes == 500_000)
      var all: [UInt8] = []
      var sizes: [Int] = []
      while let piece = try await download.next() {
        all += piece
        sizes.append(piece.count)
        #expect(download.currentOffset == all.count)
      }
      #expect(all == Self.whole)
      #expect(sizes.dropLast().allSatisfy { $0 == size })
      #expect(!download.isDataAvailable)
    }
    #expect(heads.list.withLock { $0.allSatisfy { !$0.lowercased().contains("accept-encoding") } })
  }

  @Test(
    "A download says whether more may come: before it is read, between pieces, after a break, and not at its end",
    .reference("adr/STR-4")
  )
  func isDataAvailable() async throws {
    let heads = Kept()
    let server = Self.server(cuts: 1, heads)
    defer { server.close() }
    let download = try await ODataSession(SystemTransport.make()).download(
      ODataRequest(server.url))
    #expect(download.isDataAvailable && download.currentOffset == 0)
    var seen: [Bool] = []
    var breaks = 0
    while download.isDataAvailable {
      do throws(ODataClientError) {
        guard let piece = try await download.next() else { break }
        #expect(!piece.isEmpty)
        seen.append(download.isDataAvailable)
      } catch {
        breaks += 1
        #expect(download.isDataAvailable, "a break is no end")
      }
    }
    #expect(breaks == 1 && download.currentOffset == Self.whole.count)
    #expect(!download.isDataAvailable && seen.first == true)
    #expect(try await download.next() == nil)
    let none = ScriptedService { _, _ in .status(200, "") }
    let empty = try await ODataSession(SystemTransport.make()).download(ODataRequest(none.root))
    #expect(try await empty.next() == nil && !empty.isDataAvailable)
  }

  @Test(
    "After a break it goes on behind the last byte, by Range and If-Range",
    .reference("ios/REQ-17", "ios/REQ-18", "adr/STR-3", "adr/A69")
  )
  func goesOn() async throws {
    let heads = Kept()
    let server = Self.server(cuts: 2, heads)
    defer { server.close() }
    let download = try await ODataSession(SystemTransport.make()).download(ODataRequest(server.url))
    var all: [UInt8] = []
    var breaks = 0
    while true {
      do throws(ODataClientError) {
        guard let piece = try await download.next() else { break }
        all += piece
      } catch {
        guard case .transport(let reason) = error.cause else { throw error }
        #expect(reason.code == .cut)
        breaks += 1
      }
    }
    #expect(all == Self.whole)
    #expect(breaks == 2)
    let list = heads.list.withLock { $0 }
    #expect(list.count == 3)
    #expect(list[1].contains("Range: bytes=150000-") && list[1].contains("If-Range: \"1\""))
    #expect(list[2].contains("Range: bytes=300000-"))
  }

  @Test(
    "An app that is started again goes on at offset and cookie",
    .reference("ios/REQ-18", "adr/STR-3", "adr/RSP-1"))
  func point() async throws {
    let heads = Kept()
    let server = Self.server(cuts: 0, heads)
    defer { server.close() }
    let first = try await ODataSession(SystemTransport.make()).download(ODataRequest(server.url))
    var all = try #require(try await first.next())
    let point = try #require(first.point)
    #expect(
      point
        == ODataDownloadPoint(offset: 102_400, etag: "\"1\"", cookie: "s=4", totalBytes: 500_000))
    first.cancel()
    let second = try await ODataSession(SystemTransport.make()).download(
      ODataRequest(server.url), from: point)
    while let piece = try await second.next() { all += piece }
    #expect(all == Self.whole)
    #expect(heads.list.withLock { $0[1].contains("Cookie: s=4") })
    let over = ODataDownloadPoint(offset: 500_000, etag: "\"1\"", totalBytes: 500_000)
    let none = try await ODataSession(SystemTransport.make()).download(
      ODataRequest(server.url), from: over)
    #expect(try await none.next() == nil)
  }

  @Test(
    "Two versions never meet in one file: each way they could is an error by name",
    .reference("ios/REQ-18"))
  func changed() async throws {
    let ways: [(ODataDownloadChange, (Kept) -> ScriptedServer)] = [
      (.notPartial, { Self.server(cuts: 1, $0, status: 200) }),
      (.otherETag, { Self.server(cuts: 1, $0, laterETag: "\"2\"") }),
      (.otherRange, { Self.server(cuts: 1, $0, shift: 7) }),
      (.noETag, { Self.server(cuts: 1, $0, etag: nil) }),
      (.noETag, { Self.server(cuts: 1, $0, etag: "W/\"1\"") }),
    ]
    for (change, make) in ways {
      let server = make(Kept())
      defer { server.close() }
      let download = try await ODataSession(SystemTransport.make()).download(
        ODataRequest(server.url))
      var seen: [ODataDownloadChange] = []
      while seen.isEmpty {
        do throws(ODataClientError) {
          guard try await download.next() != nil else { break }
        } catch {
          if case .changedDownload(let way) = error.cause { seen.append(way) }
        }
      }
      #expect(seen == [change])
      #expect(download.currentOffset <= 150_000)
    }
  }
}
