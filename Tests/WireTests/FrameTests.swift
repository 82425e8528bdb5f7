import FerryCompression
import FerryWire
import Testing

@Suite("Frames")
struct FrameTests {
  private func header(_ length: UInt32, kind: UInt8, flags: UInt8) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32($0))) } + [kind, flags]
  }

  private func problem(_ bytes: [UInt8]) -> WireError? {
    do throws(WireError) {
      _ = try FrameReader.frames(of: bytes)
      return nil
    } catch {
      return error
    }
  }

  private let words = Array(#"{"group":"default","staged":[],"at":7}"#.utf8)

  @Test("A frame cut anywhere is refused as cut, not read and not waited for")
  func cutAnywhere() {
    let small = Frame(.pull, words).encoded()
    let large = Frame(.pull, words + [UInt8](repeating: 0x20, count: 5_000)).encoded()
    #expect(large[5] == 1)
    for whole in [small, large] {
      #expect(problem(whole) == nil)
      for end in 1..<whole.count { #expect(problem(Array(whole[..<end]))?.code == .cutFrame) }
      for end in 1..<whole.count {
        #expect(problem(whole + whole[..<end])?.code == .cutFrame)
      }
    }
  }

  @Test("Frames are found however the bytes arrive")
  func anyPieces() throws {
    var chance = SeededGenerator(seed: 11)
    let frames = try chance.messages().map(\.frame)
    let bytes = frames.flatMap { $0.encoded() }
    for size in [1, 2, 5, 6, 7, 64, bytes.count] {
      var reader = FrameReader()
      var read: [Frame] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        reader.append(bytes[start..<min(start + size, bytes.count)])
        while let frame = try reader.next() { read.append(frame) }
      }
      try reader.finish()
      #expect(read == frames)
    }
  }

  @Test("A length beyond the limit is refused from the header alone")
  func announcedTooLong() {
    for length in [UInt32(WireLimits.frameBytes) + 1, .max] {
      let error = problem(header(length, kind: 3, flags: 0))
      #expect(error?.code == .badFrame)
      #expect(error?.message.contains("a frame announces \(length) bytes") == true)
    }
    #expect(
      problem(header(UInt32(WireLimits.frameBytes), kind: 3, flags: 0))?.code == .cutFrame)
  }

  @Test("An unknown kind and unknown flags are refused from the header alone")
  func unknownHeader() {
    let known = Set(Frame.Kind.allCases.map(\.rawValue))
    for kind in UInt8.min...UInt8.max where !known.contains(kind) {
      #expect(problem(header(2, kind: kind, flags: 0))?.code == .badFrame)
    }
    for flags in UInt8(2)...UInt8.max {
      #expect(problem(header(2, kind: 3, flags: flags))?.code == .badFrame)
    }
  }

  @Test("A small frame that expands beyond the limit is refused; one up to it is read")
  func bomb() throws {
    let limit = WireLimits.expandedBytes
    for (count, isRead) in [(limit, true), (limit + 1, false)] {
      let body = try Deflate.compress([UInt8](repeating: 0x20, count: count))
      #expect(body.count < 1 << 20)
      let error = problem(header(UInt32(body.count), kind: 3, flags: 1) + body)
      #expect((error == nil) == isRead)
      #expect(error?.code == (isRead ? nil : .badFrame))
    }
  }

  @Test("Compressed bytes that are cut, go on, or would expand to something else are refused")
  func damaged() throws {
    let content = words + [UInt8](repeating: 0x20, count: 900)
    let body = try Deflate.compress(content)
    for index in body.indices {
      var changed = body
      changed[index] ^= 0x10
      let head = header(UInt32(body.count), kind: 3, flags: 1)
      // A bit of padding, or of the level in the header, means nothing.
      let read = try? FrameReader.frames(of: head + changed)
      #expect(read == nil || read?.first?.content == content)
    }
    let short = Array(body.dropLast())
    #expect(problem(header(UInt32(short.count), kind: 3, flags: 1) + short)?.code == .badFrame)
    let long = body + [0]
    #expect(problem(header(UInt32(long.count), kind: 3, flags: 1) + long)?.code == .badFrame)
  }

  @Test("Small contents travel as they are, large ones compressed where that is shorter")
  func compressing() {
    #expect(Frame(.pull, words).encoded()[5] == 0)
    #expect(Frame(.pull, [UInt8](repeating: 0x20, count: 511)).encoded()[5] == 0)
    #expect(Frame(.pull, [UInt8](repeating: 0x20, count: 512)).encoded()[5] == 1)
    var chance = SeededGenerator(seed: 3)
    let noise = (0..<2_000).map { _ in UInt8.random(in: 0...255, using: &chance) }
    #expect(Frame(.pull, noise).encoded()[5] == 0)
  }

  @Test("A frame of rows is kept in the very bytes in which it came")
  func rowsAsTheyCame() throws {
    var chance = SeededGenerator(seed: 5)
    let content = try chance.page().json
    // Ours would compress it; another server need not.
    #expect(content.count > WireLimits.compressFromBytes)
    let bytes = header(UInt32(content.count), kind: 4, flags: 0) + content
    let frame = try #require(try FrameReader.frames(of: bytes).first)
    #expect(frame.content == content)
    #expect(frame.encoded() == bytes)
  }
}
