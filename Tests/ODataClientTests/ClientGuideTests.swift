import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataAddress
import FerryODataBatch
import FerryODataClient
import Foundation
import Testing

/// The guide `Documentation/ODataClient.md`: its code is compiled here.
@Suite("The guide to the OData client")
struct ClientGuideTests {
  private static let file = URL(filePath: #filePath)

  private static func lines(_ file: URL) throws -> [String] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
  }

  private static func guide() throws -> [String] {
    try lines(
      file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Documentation/ODataClient.md"))
  }

  @Test("Each snippet of the guide is in this file, word for word")
  func snippets() throws {
    let own = try Self.lines(Self.file)
    var snippet: [String]?
    var count = 0
    for line in try Self.guide() {
      if line == "```swift" {
        snippet = []
      } else if line == "```", let text = snippet {
        #expect(own.indices.contains { own[$0...].starts(with: text) }, "\(text.first ?? "")")
        count += 1
        snippet = nil
      } else {
        snippet?.append(line)
      }
    }
    #expect(count == 8)
  }

  @Test("No line of its Swift encodes a query by hand")
  func noHandEncoding() throws {
    var isSwift = false
    for line in try Self.guide() {
      if line.hasPrefix("```") { isSwift = line == "```swift" }
      #expect(!isSwift || !line.contains("?$") && !line.contains("%"), "\(line)")
    }
  }

  @Test("A query and a key of the guide are sent as they read")
  func queries() async throws {
    let server = SmallService.serve { request, _ in
      switch request.target {
      case "/Items/$count": .status(200, "2")
      case "/Items(7)/Name": .json(#"{"value":"one"}"#)
      case "/Items(7)": .json(SmallService.item(7, "one", etag: "1"))
      default: .json(#"{"value":[\#(SmallService.item(7, "one", etag: "1"))]}"#)
      }
    }
    let service = try await ODataService.open(
      server.root, session: ODataSession(SystemTransport.make()))
    try await queries(service)
    #expect(
      server.lines.dropFirst(2) == [
        "GET /Items?$filter=startswith(Name,'o')&$orderby=Name&$top=10", "GET /Items/$count",
        "GET /Items(7)/Name", "GET /Items(7)",
      ])
  }

  private func queries(_ service: ODataService) async throws {
    let items = ODataAddress().entitySet("Items")
    let found = items.filter(Property("Name").hasPrefix("o")).orderBy("Name").top(10)
    for try await item in service.entries(found) { print(item["Name"]?.string ?? "") }
    let count = try await service.count(items)
    let name = try await service.value(items.key(7).property("Name"))
    let one = try await service.entry(items.key(7))
    #expect(count == 2 && name == .string("one") && one["ID"] == .int32(7))
  }

  private func first() async throws {
    let transport = SystemTransport.make(TransportOptions(trust: .file("company.pem")))
    let session = ODataSession(transport)
    let service = try await ODataService.open("https://host/service/", session: session)
    let newer = ODataAddress().entitySet("Items").filter(Property("Rev") > 2)
    for try await item in service.entries(newer) {
      print(item["Name"]?.string ?? "")
    }
    var item = try await service.entry(in: "Items", key: 7)
    item["Name"] = .string("changed")
    do {
      item = try await service.update(item)
    } catch {
      if case .conflict(let conflict) = error.cause {
        print(conflict.theirs as Any, conflict.theirETag as Any)
      }
    }
    try await service.delete(item)
  }

  private func keys(_ service: ODataService) async throws {
    let id = 7
    let item = try await service.entry(in: "Items", key: ODataKey(id))
    let name = "north"
    let region = try await service.entry(in: "Regions", key: ODataKey(name))
    let line = try await service.entry(
      in: "Lines", key: ODataKey(["Order": .int32(4711), "Number": .int32(2)]))
    print(item, region, line)
  }

  private func trust(
    _ listener: any ServerTrustListener, _ bytes: [UInt8], _ password: String
  ) -> ODataSession {
    var options = TransportOptions(trust: .file("company.pem"))
    options.trustListener = listener  // asked about a server that no authority vouches for
    options.identity = ClientIdentity(pkcs12: bytes, password: password)
    options.proxy = .server(host: "proxy.company", port: 3128)
    let session = ODataSession(transport: options)
    return session
  }

  private func files(_ session: ODataSession, _ path: String, _ file: FileHandle) async throws {
    var request = ODataRequest("https://host/service/Photos", method: .post)
    request.upload = try .file(path)
    request.progress = { step in print(step.sentBytes, step.toSendBytes as Any) }
    let answer = try await session.sendChecked(request)

    let download = try await session.download(ODataRequest("https://host/service/Photos(7)/$value"))
    while let piece = try await download.next() { try file.write(contentsOf: piece) }
    print(answer.status)
  }

  private func order(_ session: ODataSession, _ request: ODataRequest) async throws {
    let queue = RequestQueue(session, workers: 2)
    let ticket = try await queue.add(request, name: "photos", priority: .high)
    let answer = try await ticket.response()
    print(answer.status)
  }

  private func batches(_ service: ODataService) async throws {
    let batch = ODataBatch([.request("GET", "Items(1)"), .request("GET", "Items(2)")])
    for answer in try await service.send(batch) { print(answer?.status as Any) }
  }
}
