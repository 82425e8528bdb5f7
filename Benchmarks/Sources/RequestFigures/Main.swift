import FerryHTTPClient
import FerryOData
import FerryODataClient
import Glibc

/// Measures requests of the OData client in a process of its own, so that its memory is its own:
///   RequestFigures feed <entries> | side <requests> | replay <operations> | up | down
/// Prints two numbers: ours and the limit; of `up` and `down` seconds and the most memory in KB.
@main
enum Main {
  static func main() async throws {
    let words = Array(CommandLine.arguments.dropFirst())
    let count = words.dropFirst().first.flatMap { Int($0) } ?? 0
    switch words.first {
    case "feed": try await feed(count)
    case "side": try await sideBySide(count)
    case "replay": try await Replay.run(count)
    case "up", "down": try await stream(isUp: words.first == "up")
    default:
      print(
        "usage: RequestFigures feed <entries> | side <requests> | replay <operations> | up | down")
      exit(2)
    }
  }

  private static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
    <Property Name="City" Type="Edm.String"/><Property Name="Note" Type="Edm.String"/>
    <Property Name="Stock" Type="Edm.Int64"/><Property Name="Price" Type="Edm.Decimal" Scale="2"/>
    </EntityType><EntityContainer Name="C"><EntitySet Name="Items" EntityType="S.Item"/>
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  private static func pages(_ entries: Int) -> [[UInt8]] {
    let size = 1_000
    let last = max(0, (entries - 1) / size)
    return (0...last).map { page in
      let rows = (page * size..<min(entries, (page + 1) * size)).map { id in
        #"{"@odata.etag":"W/\"\#(id)\"","ID":\#(id),"Name":"Item number \#(id)","City":"Walldorf","#
          + #""Note":"A note of some length that nobody reads, \#(id)","Stock":\#(id % 977),"Price":\#(id % 100).25}"#
      }
      let next = page < last ? #","@odata.nextLink":"Items?page=\#(page + 1)""# : ""
      return Array(
        #"{"@odata.context":"$metadata#Items","value":[\#(rows.joined(separator: ","))]\#(next)}"#
          .utf8)
    }
  }

  private static func sum(_ row: ODataRow) throws(ODataError) -> Int64 {
    let length = Int64(try row.string("Name")?.utf8.count ?? 0)
    return try row.integer("ID").map { $0 + length } ?? 0
  }

  /// Entries a second, paged over loopback and read as rows; the limit is the same from memory.
  private static func feed(_ entries: Int) async throws {
    let pages = pages(entries)
    let peer = Peer(pages: pages, metadata: Array(metadata.utf8))
    let service = try await ODataService.open(peer.root)
    let clock = ContinuousClock()
    var (network, memory): (Int64, Int64) = (0, 0)
    // Once before, so that both find warm caches.
    for isMeasured in [false, true] {
      network = 0
      memory = 0
      let slow = try await clock.measure {
        for try await value in service.rows("Items", { row throws(ODataError) in try sum(row) }) {
          network += value
        }
      }
      let metadata = service.metadata
      let fast = try clock.measure {
        for page in pages {
          let reader = ODataFeedReader(
            ODataReadOptions(metadata: metadata, type: "S.Item", base: peer.root, version: .v4))
          var start = 0
          while start < page.count {
            reader.push(Array(page[start..<min(start + 65_536, page.count)]))
            while let row = try reader.nextRow() { memory += try sum(row) }
            start += 65_536
          }
          reader.finish()
          while let row = try reader.nextRow() { memory += try sum(row) }
        }
      }
      guard network == memory, network > 0 else {
        print("both sums differ: \(network) and \(memory)")
        exit(1)
      }
      if isMeasured {
        print(Double(entries) / (slow / .seconds(1)), Double(entries) / (fast / .seconds(1)))
      }
    }
  }

  /// Requests a second, 16 side by side, through a session; the limit is the transport alone.
  private static func sideBySide(_ count: Int) async throws {
    let peer = Peer(pages: [], metadata: [])
    var options = TransportOptions()
    options.connectionsPerHost = 16
    let transport = SystemTransport.make(options)
    let session = ODataSession(transport)
    let url = peer.root + "small"
    let bare: @Sendable () async throws -> Int = {
      try await transport.send(TransportRequest(url: url)).body.collect().count
    }
    let ours: @Sendable () async throws -> Int = {
      try await session.send(ODataRequest(url)).body.count
    }
    var seconds = [[Double]](repeating: [], count: 2)
    for _ in 0..<5 {
      for (place, call) in [ours, bare].enumerated() {
        let time = try await ContinuousClock().measure {
          try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<16 {
              group.addTask {
                var bytes = 0
                for _ in 0..<count / 16 { bytes += try await call() }
                return bytes
              }
            }
            for try await bytes in group where bytes != count / 16 * 1_024 { exit(1) }
          }
        }
        seconds[place].append(time / .seconds(1))
      }
    }
    let medians = seconds.map { Double(count) / $0.sorted()[2] }
    print(medians[0], medians[1])
  }

  private final class Gigabyte: TransportBodySource, @unchecked Sendable {
    /// One reader at a time touches it.
    private var left = Peer.streamBytes
    private let piece = [UInt8](repeating: 7, count: 256 << 10)

    func next() async throws -> [UInt8]? {
      guard left > 0 else { return nil }
      left -= piece.count
      return piece
    }
  }

  private static func stream(isUp: Bool) async throws {
    let peer = Peer(pages: [], metadata: [])
    let session = ODataSession()
    var bytes = 0
    let time = try await ContinuousClock().measure {
      if isUp {
        var request = ODataRequest(peer.root + "small", method: .put)
        request.upload = .source(lengthBytes: Peer.streamBytes) { Gigabyte() }
        guard try await session.send(request).status == 200 else { exit(1) }
        bytes = Peer.streamBytes
      } else {
        let download = try await session.download(ODataRequest(peer.root + "stream"))
        while let piece = try await download.next() { bytes += piece.count }
      }
    }
    guard bytes == Peer.streamBytes else {
      print("only \(bytes) bytes came")
      exit(1)
    }
    print(time / .seconds(1), peakKilobytes())
  }

  private static func peakKilobytes() -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 8 << 10)
    let count = fread(&bytes, 1, bytes.count, file)
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }
}
