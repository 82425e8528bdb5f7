import FerryCrypto
import FerryJSON
import FerryModel
import FerryText

/// How far the server has a content, as it answers each piece.
public struct ContentProgress: Sendable, Equatable {
  /// Where the next piece begins; the size when all is there.
  public var offset: Int64
  public var sizeBytes: Int64

  public init(offset: Int64, sizeBytes: Int64) {
    self.offset = offset
    self.sizeBytes = sizeBytes
  }

  public var isWhole: Bool { offset >= sizeBytes }

  public var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("offset", offset)
    writer.field("size", sizeBytes)
    writer.endObject()
    return writer.bytes
  }

  /// Nil where the bytes are no such answer.
  public init?(json: [UInt8]) {
    guard let node = try? JSONNode.parse(json), let offset = node["offset"]?.integer,
      let size = node["size"]?.integer, (0...max(0, size)).contains(offset)
    else { return nil }
    self.init(offset: offset, sizeBytes: size)
  }
}

/// The `Content-Range` of a piece: `bytes 0-262143/20971520`, or `bytes */20971520` where it carries
/// nothing and asks how far the other side is (RFC 9110, 14.4).
public struct ContentRange: Sendable, Equatable {
  /// Nil where it only asks.
  public let start: Int64?
  /// Bytes that it carries.
  public let count: Int64
  public let sizeBytes: Int64

  /// A piece.
  public init(start: Int64, count: Int64, sizeBytes: Int64) {
    self.start = start
    self.count = count
    self.sizeBytes = sizeBytes
  }

  /// A question.
  public init(sizeBytes: Int64) {
    start = nil
    count = 0
    self.sizeBytes = sizeBytes
  }

  public var text: String {
    guard let start else { return "bytes */\(sizeBytes)" }
    return "bytes \(start)-\(start + count - 1)/\(sizeBytes)"
  }

  /// Nil where the text is no range, or one that cannot be.
  public init?(_ text: String) {
    guard text.hasPrefix("bytes ") else { return nil }
    let sides = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard sides.count == 2, let size = Int64(digits: sides[1]) else { return nil }
    guard sides[0] != "*" else {
      self.init(sizeBytes: size)
      return
    }
    let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Int64(digits: ends[0]), let last = Int64(digits: ends[1]),
      last >= first, last < size
    else { return nil }
    self.init(start: first, count: last - first + 1, sizeBytes: size)
  }
}

/// The stretch of a `Range: bytes=262144-1310719`, the form in which a content is asked for; without
/// an end it is all from there on.
public struct ContentStretch: Sendable, Equatable {
  public let start: Int64
  /// The last byte; nil for the end of the content.
  public let last: Int64?

  public init(start: Int64, last: Int64? = nil) {
    self.start = start
    self.last = last
  }

  public var text: String { "bytes=\(start)-\(last.map { String($0) } ?? "")" }

  /// Behind its last byte in a content of so many, which may be shorter than what is asked for.
  public func end(of sizeBytes: Int64) -> Int64 {
    guard let last, last < sizeBytes else { return sizeBytes }
    return last + 1
  }

  /// All of it where nothing is asked for; nil where the text is another form.
  public init?(_ text: String?) {
    guard let text else {
      self.init(start: 0)
      return
    }
    guard text.hasPrefix("bytes=") else { return nil }
    let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let start = Int64(digits: ends[0]) else { return nil }
    let last = Int64(digits: ends[1])
    guard ends[1].isEmpty || last.map({ $0 >= start }) == true else { return nil }
    self.init(start: start, last: last)
  }
}

/// The `Content-Digest` of a piece (RFC 9530): `sha-256=:…:`, the digest in Base64.
public enum ContentDigest {
  /// The header that belongs to these bytes.
  public static func text(of bytes: [UInt8]) -> String {
    "sha-256=:\(Base64.encode(SHA256Digest.hash(bytes))):"
  }
}

extension Int64 {
  /// Nil where the text is anything but digits, a sign too.
  fileprivate init?(digits text: Substring) {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    self.init(text)
  }
}
