import FerryHTTP
import FerryModel
import FerryWire
import FerryWorld
import Testing

@testable import FerryServer

@Suite("Users name their packages", .timeLimit(.minutes(60)))
struct PackageDoorTests {
  private func bytes(_ response: HTTPResponse) async -> [UInt8] {
    switch response.body {
    case .bytes(let bytes): return bytes
    case .stream(let source):
      var bytes: [UInt8] = []
      while case .bytes(let more) = await source.next() { bytes += more }
      return bytes
    }
  }

  private func first(_ response: HTTPResponse) async throws -> any HTTPBodySource {
    guard case .stream(let source) = response.body, case .bytes = await source.next() else {
      throw PackageDoorTests.noStream
    }
    return source
  }

  private struct NoStream: Error {}
  private static let noStream = NoStream()

  private func refusal(_ response: HTTPResponse) async throws -> WireFailure {
    #expect(response.status == 200)
    let frames = try FrameReader.frames(of: await bytes(response))
    guard frames.count == 1, case .failure(let failure) = try Message(frames[0]) else {
      throw PackageDoorTests.noStream
    }
    return failure
  }

  @Test(
    "A user without a list, or with the package in it, is served; any other list refuses at once")
  func list() async throws {
    let bench = try await DoorBench()
    for path in ["/ferry/1/exchange", "/ferry/1/content"] {
      bench.users.change { $0.packages["anna"] = nil }
      let before = await bench.host.answer(try bench.request(nil, path))
      bench.users.change { $0.packages["anna"] = ["other", "album"] }
      let named = await bench.host.answer(try bench.request(nil, path))
      #expect(before.status == named.status)
    }
    let served = await bench.host.answer(try bench.request(nil, "/ferry/1/exchange"))
    let frames = try FrameReader.frames(of: await bytes(served))
    guard case .welcome = try Message(try #require(frames.first)) else {
      Issue.record("the user is not welcome")
      return
    }
    // The token is the one of before: the record decides.
    for names in [["other"], [], ["Album"], ["album:1.0"]] {
      bench.users.change { $0.packages["anna"] = names }
      let answer = await bench.host.answer(try bench.request(.post, "/ferry/1/exchange"))
      #expect(try await refusal(answer).code == .unknownPackage, "\(names)")
    }
    await bench.stop()
  }

  @Test("Who may not use a package gets the answer of one that is not there, at every route")
  func unnamed() async throws {
    let bench = try await DoorBench()
    bench.users.change { $0.packages["anna"] = [] }
    let hidden = await bench.host.answer(try bench.request(.post, "/ferry/1/exchange"))
    let missing = await bench.host.answer(
      try bench.request(.post, "/ferry/1/exchange", package: "elbum:1.0"))
    var (one, two) = (try await refusal(hidden), try await refusal(missing))
    #expect(one.message.contains("album:1.0"), "what the device itself said")
    #expect(two.message == one.message.replacing("album", with: "elbum") && one.hint == two.hint)
    // Another version: nobody hears which there are.
    let other = await bench.host.answer(
      try bench.request(.post, "/ferry/1/exchange", package: "album:9.0"))
    one = try await refusal(other)
    #expect(!one.message.contains("1.0"), "\(one.message)")
    bench.users.change { $0.packages["anna"] = ["album"] }
    two = try await refusal(
      await bench.host.answer(
        try bench.request(.post, "/ferry/1/exchange", package: "album:9.0")))
    #expect(two.message.contains("album:1.0"), "\(two.message)")
    bench.users.change { $0.packages["anna"] = [] }
    var named = try bench.request(.get, "/ferry/1/content")
    named.query = "entity=Photo&key=1&attribute=image&package=album:1.0"
    var absent = named
    absent.query = named.query?.replacing("album", with: "elbum")
    let (first, second) = (await bench.host.answer(named), await bench.host.answer(absent))
    #expect(first.status == 404 && second.status == 404)
    #expect(await bytes(first) == bytes(second))
    // A log is no package's.
    #expect(await bench.host.answer(try bench.request(.post, "/ferry/1/logs")).status == 200)
    await bench.stop()
  }

  @Test("A package that is taken away ends what is being sent: a channel, a download")
  func running() async throws {
    for path in ["/ferry/1/channel", "/ferry/1/content"] {
      let bench = try await DoorBench()
      let source = try await first(
        await bench.host.answer(
          try bench.request(path.hasSuffix("l") ? .post : .get, path)))
      bench.users.change { $0.packages["anna"] = ["other"] }
      // As a server that has read its user file again.
      await bench.host.recordsChanged()
      while case .bytes(let more) = await source.next() {
        Issue.record("\(path) sends \(more.count) bytes")
      }
      await bench.stop()
    }
  }

  @Test("A package that is away for a moment says so to those alone who may use it")
  func away() async throws {
    let bench = try await DoorBench()
    let world = World(clock: bench.clock, chance: SystemChance(), log: KeptLog())
    let server = ServerHost(
      doorkeeper: Doorkeeper(bench.users, world: world),
      audit: AuditLog(path: "\(bench.folder)/door.jsonl", world: world),
      proxies: [], world: world)
    server.set(PhotoBusiness.package.id, bench.host)
    server.set("notes:1.0", nil)
    let request = try bench.request(.post, "/ferry/1/exchange", package: "notes:1.0")
    var content = try bench.request(.get, "/ferry/1/content")
    content.query = "entity=Photo&key=1&attribute=image&package=notes:1.0"
    #expect(await server.answer(request).status == 503)
    #expect(await server.answer(content).status == 503)
    bench.users.change { $0.packages["anna"] = ["album"] }
    #expect(try await refusal(await server.answer(request)).code == .unknownPackage)
    #expect(await server.answer(content).status == 404)
    await bench.stop()
  }
}
