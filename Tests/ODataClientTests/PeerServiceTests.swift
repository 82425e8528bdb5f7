import FerryHTTPClient
import FerryOData
import FerryODataClient
import FerryTestTraits
import Testing

@Suite("pyslet's service behind nginx with TLS and gzip", .timeLimit(.minutes(60)))
struct PeerServiceTests {
  @Test("It is opened, paged through, read by key, changed and deleted", .reference("ios/REQ-13"))
  func wholeCircle() async throws {
    let peer = try PeerService.start()
    let transport = SystemTransport.make(TransportOptions(trust: .file(peer.authority)))
    let session = ODataSession(transport)
    let service = try await ODataService.open(peer.root, session: session)
    #expect(service.metadata.version == .v2)
    #expect(service.document.collections.map(\.name) == ["Items"])

    var ids: [Int64] = []
    for try await item in service.entries("Items") { ids.append(item["ID"]?.integer ?? -1) }
    #expect(ids == Array(0..<10))
    var none = service.entries("Items?$filter=ID%20gt%20100").makeAsyncIterator()
    #expect(try await none.next() == nil)

    let answer = try await session.send(ODataRequest(peer.root + "Items"))
    #expect(answer.isCompressed)

    var made = try await service.create(
      ODataEntry(["ID": .int32(77), "Name": .string("new"), "Rev": .int32(1)]), in: "Items")
    #expect(made["Name"] == .string("new"))
    made["Name"] = .string("changed")
    _ = try await service.update(made, method: .put)
    var read = try await service.entry(in: "Items", key: 77)
    #expect(read["Name"] == .string("changed"))
    #expect(read.etag != nil)
    read["Name"] = .string("merged")
    _ = try await service.update(read)
    let merged = try await service.entry(in: "Items", key: 77)
    #expect(merged["Name"] == .string("merged"))
    #expect(merged["Rev"] == .int32(1))

    try await service.delete(merged)
    let gone = await failure { () throws(ODataClientError) in
      _ = try await service.entry(in: "Items", key: 77)
    }
    guard case .http(let error) = gone?.cause else {
      return #expect(Bool(false), "\(gone as Any)")
    }
    #expect(error.status == 404)
  }

  @Test("A service whose authority nobody trusts sees nothing of a request")
  func stranger() async throws {
    let peer = try PeerService.start()
    let error = await failure { () throws(ODataClientError) in
      _ = try await ODataService.open(peer.root)
    }
    guard case .transport(let transport) = error?.cause else {
      return #expect(Bool(false), "\(error as Any)")
    }
    #expect(transport.code == .tls)
    #expect(error?.requestWasSent == false)
  }
}
