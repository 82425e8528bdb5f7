import FerryHTTP
import Testing

@testable import FerryServer

/// Answers that are still being sent when the right to them ends.
@Suite("What leaves is judged when it leaves", .timeLimit(.minutes(60)))
struct StreamEndTests {
  private func download(_ bench: DoorBench) async throws -> any HTTPBodySource {
    let answer = await bench.host.answer(try bench.request(.get, "/ferry/1/content"))
    #expect(answer.status == 206)
    guard case .stream(let source) = answer.body, case .bytes(let first) = await source.next()
    else {
      throw StreamEndTests.noStream
    }
    #expect(first.allSatisfy { $0 == UInt8(ascii: "a") } && !first.isEmpty)
    return source
  }

  private struct NoStream: Error {}
  private static let noStream = NoStream()

  /// The bytes of the next piece; nil where the line is cut.
  private func more(_ source: any HTTPBodySource) async -> [UInt8]? {
    if case .bytes(let bytes) = await source.next() { bytes } else { nil }
  }

  @Test("A download that was begun ends with the right to it", arguments: Ending.allCases)
  func contents(_ ending: Ending) async throws {
    let bench = try await DoorBench()
    let source = try await download(bench)
    #expect(await more(source) != nil)
    try await bench.end(ending)
    #expect(await more(source) == nil)
    await bench.stop()
  }

  @Test("Nobody gets bytes of a row that has moved to somebody else")
  func moved() async throws {
    let bench = try await DoorBench()
    let source = try await download(bench)
    bench.business.change { row in
      row?.employee = 2
      row?.image = [UInt8](repeating: UInt8(ascii: "B"), count: PhotoBusiness.sizeBytes)
    }
    await bench.host.reload()
    #expect(await more(source) == nil)
    await bench.stop()
  }

  @Test("A content that was replaced or deleted is not mixed with the new one")
  func replaced() async throws {
    for isDeleted in [false, true] {
      let bench = try await DoorBench()
      let source = try await download(bench)
      bench.business.change { row in
        if isDeleted { row = nil } else { row?.image[0] = 0 }
      }
      await bench.host.reload()
      #expect(await more(source) == nil)
      await bench.stop()
    }
  }

  @Test("A download that nothing ends is whole, however slowly it is read")
  func whole() async throws {
    let bench = try await DoorBench()
    let answer = await bench.host.answer(try bench.request(.get, "/ferry/1/content"))
    guard case .stream(let source) = answer.body else { throw StreamEndTests.noStream }
    var bytes: [UInt8] = []
    while let piece = await more(source) {
      bytes += piece
      bench.clock.advance(60)
    }
    #expect(bytes == bench.business.now?.image)
    await bench.stop()
  }

  @Test("A channel ends with the right to it", arguments: Ending.allCases)
  func channels(_ ending: Ending) async throws {
    let bench = try await DoorBench()
    let answer = await bench.host.answer(try bench.request(.post, "/ferry/1/channel"))
    guard case .stream(let source) = answer.body else { throw StreamEndTests.noStream }
    #expect(await more(source) != nil)
    try await bench.end(ending)
    await bench.host.recordsChanged()
    // What a beat is sent after has not passed: an end is not told by the next one only.
    if ending == .tokenOver || ending == .staleRights { await bench.host.timeHasPassed() }
    while await more(source) != nil { await bench.host.timeHasPassed() }
    await bench.stop()
  }
}
