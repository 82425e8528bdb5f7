import CZlib

/// Compresses and expands whole messages in zlib's format (RFC 1950).
public enum Deflate {
  /// Compresses at a level that favours speed.
  public static func compress(_ bytes: [UInt8]) throws(CompressionError) -> [UInt8] {
    var length = compressBound(uLong(bytes.count))
    var code = Z_OK
    let out = [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
      code = compress2(buffer.baseAddress, &length, bytes, uLong(bytes.count), Z_BEST_SPEED)
      count = code == Z_OK ? Int(length) : 0
    }
    guard code == Z_OK else { throw CompressionError(problem: "zlib answered \(code)") }
    return out
  }

  /// Expands to at most `limitBytes`; a larger or damaged message is refused.
  public static func expand(
    _ bytes: ArraySlice<UInt8>, limitBytes: Int
  ) throws(CompressionError)
    -> [UInt8]
  {
    try expand(bytes, limitBytes: limitBytes, windowBits: 15)
  }

  /// The same for a stream without zlib's header, as files of ZIP have it (RFC 1951).
  public static func expandRaw(
    _ bytes: ArraySlice<UInt8>, limitBytes: Int
  ) throws(CompressionError)
    -> [UInt8]
  {
    try expand(bytes, limitBytes: limitBytes, windowBits: -15)
  }

  private static func expand(
    _ bytes: ArraySlice<UInt8>, limitBytes: Int, windowBits: Int32
  ) throws(CompressionError)
    -> [UInt8]
  {
    var stream = z_stream()
    let opened = inflateInit2_(
      &stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard opened == Z_OK else {
      throw CompressionError(problem: "zlib has no memory")
    }
    defer { inflateEnd(&stream) }
    var out: [UInt8] = []
    var code = Z_OK
    var input = Array(bytes)
    let problem: String? = input.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = uInt(input.count)
      let piece = max(4_096, min(limitBytes, input.count * 4))
      while code != Z_STREAM_END {
        guard out.count < limitBytes else { return "it expands to more than \(limitBytes) bytes" }
        let room = min(piece, limitBytes - out.count)
        out.append(
          contentsOf: [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            stream.next_out = buffer.baseAddress
            stream.avail_out = uInt(room)
            code = inflate(&stream, Z_NO_FLUSH)
            count = room - Int(stream.avail_out)
          })
        if code == Z_STREAM_END { break }
        guard code == Z_OK else { return "zlib answered \(code)" }
        if stream.avail_in == 0, stream.avail_out != 0 { return "it ends too early" }
      }
      return stream.avail_in == 0 ? nil : "bytes follow its end"
    }
    if let problem { throw CompressionError(problem: problem) }
    return out
  }
}

/// Why bytes could not be compressed or expanded.
public struct CompressionError: Error, Sendable, Equatable, CustomStringConvertible {
  public let problem: String

  public var description: String { "compressed bytes: \(problem)" }
}

/// Checksums as files of ZIP, gzip and PNG have them.
public enum Checksum {
  /// CRC-32 of ISO 3309.
  public static func crc32(_ bytes: [UInt8]) -> UInt32 {
    UInt32(truncatingIfNeeded: CZlib.crc32(0, bytes, uInt(bytes.count)))
  }
}
