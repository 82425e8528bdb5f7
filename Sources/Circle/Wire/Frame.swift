import FerryCompression

/// The envelope of a message: length (4 bytes, big endian, of the content as it travels), kind (1),
/// flags (1), content. Bit 0 of the flags: the content is compressed (zlib), by itself.
public struct Frame: Sendable, Equatable {
  /// What the bytes of a frame are.
  public enum Kind: UInt8, Sendable, CaseIterable {
    case hello = 1
    case welcome, pull, rows, checkpoint, confirm, replay, stored, stir, beat, failure,
      report
  }

  public static let headerBytes: Int = 6
  public let kind: Kind
  /// JSON in UTF-8, expanded.
  public let content: [UInt8]
  /// How many bytes came, with the header; of a frame that was not read, those of its content.
  public let travelledBytes: Int
  /// The bytes in which it came, for a side that keeps frames as they are.
  private let travelled: [UInt8]?

  public init(_ kind: Kind, _ content: [UInt8]) {
    self.init(kind, content, travelled: nil, Frame.headerBytes + content.count)
  }

  init(_ kind: Kind, _ content: [UInt8], travelled: [UInt8]?, _ travelledBytes: Int) {
    self.kind = kind
    self.content = content
    self.travelled = travelled
    self.travelledBytes = travelledBytes
  }

  public static func == (left: Frame, right: Frame) -> Bool {
    left.kind == right.kind && left.content == right.content
  }

  /// The bytes that travel.
  public func encoded() -> [UInt8] {
    if let travelled { return travelled }
    var body = content
    var flags: UInt8 = 0
    if content.count >= WireLimits.compressFromBytes,
      let smaller = try? Deflate.compress(content), smaller.count < content.count
    {
      body = smaller
      flags = 1
    }
    let count = UInt32(body.count)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Frame.headerBytes + body.count)
    for shift in stride(from: 24, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: count >> UInt32(shift)))
    }
    bytes.append(kind.rawValue)
    bytes.append(flags)
    bytes.append(contentsOf: body)
    return bytes
  }
}

/// Cuts a stream of bytes into frames, however the bytes arrive.
public struct FrameReader {
  private var buffer: [UInt8] = []
  private var start: Int = 0
  /// What the frames that are still to come may have when expanded.
  private var roomBytes: Int

  /// `limitBytes` bounds the content of all frames together, expanded; a frame that goes past it
  /// is `badFrame`, and no more than the limit is ever held for it.
  public init(limitBytes: Int = .max) { roomBytes = limitBytes }

  /// Takes bytes as they arrive, cut anywhere.
  public mutating func append(_ bytes: some Collection<UInt8>) {
    if start > 0 {
      buffer.removeFirst(start)
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// The next whole frame, or nil until more bytes have come.
  public mutating func next() throws(WireError) -> Frame? {
    guard buffer.count - start >= Frame.headerBytes else { return nil }
    var length = 0
    for index in 0..<4 { length = length << 8 | Int(buffer[start + index]) }
    guard length <= WireLimits.frameBytes else {
      throw WireError(
        .badFrame, "a frame announces \(length) bytes; \(WireLimits.frameBytes) are allowed",
        hint: "Check that a Ferry server is at this address and that no proxy changes its answers.")
    }
    guard let kind = Frame.Kind(rawValue: buffer[start + 4]) else {
      throw WireError(
        .badFrame, "a frame has the unknown kind \(buffer[start + 4])",
        hint: "Update this app or server: the other side uses a newer protocol.")
    }
    let flags = buffer[start + 5]
    guard flags <= 1 else {
      throw WireError(
        .badFrame, "a frame has the unknown flags \(flags)",
        hint: "Update this app or server: the other side uses a newer protocol.")
    }
    let end = start + Frame.headerBytes + length
    guard buffer.count >= end else { return nil }
    let body = buffer[(start + Frame.headerBytes)..<end]
    let content: [UInt8]
    guard flags == 1 || length <= roomBytes else { throw FrameReader.noRoom }
    if flags == 1 {
      do {
        content = try Deflate.expand(
          body, limitBytes: min(WireLimits.expandedBytes, roomBytes))
      } catch {
        throw WireError(
          .badFrame, "\(error)",
          hint: roomBytes < WireLimits.expandedBytes
            ? FrameReader.noRoom.hint
            : "The bytes were changed on the way; the exchange is repeated.")
      }
    } else {
      content = Array(body)
    }
    let travelled = kind == .rows ? Array(buffer[start..<end]) : nil
    start = end
    roomBytes -= content.count
    return Frame(kind, content, travelled: travelled, Frame.headerBytes + length)
  }

  private static let noRoom = WireError(
    .badFrame, "the frames of this request are larger than allowed after decompression",
    hint:
      "Send at most \(WireLimits.requestBytes) bytes in one request, and the others in further requests."
  )

  /// Call at the end of the bytes: a frame that is not whole is an error.
  public func finish() throws(WireError) {
    guard buffer.count == start else {
      throw WireError(
        .cutFrame, "the data ends inside a frame, after \(buffer.count - start) of its bytes",
        hint: "The connection was lost; the exchange is repeated.")
    }
  }

  /// All frames of a whole body.
  public static func frames(of body: [UInt8]) throws(WireError) -> [Frame] {
    var reader = FrameReader()
    reader.append(body)
    var frames: [Frame] = []
    while let frame = try reader.next() { frames.append(frame) }
    try reader.finish()
    return frames
  }
}
