import CZlib

/// Compresses and expands whole files in gzip's format (RFC 1952), as other programs read it.
public enum Gzip {
  /// The first bytes of each file.
  public static let header: [UInt8] = [0x1F, 0x8B]
  private static let windowBits: Int32 = 15 + 16

  /// Compresses at zlib's middle level; no name and no time is kept.
  public static func compress(_ bytes: [UInt8]) throws(CompressionError) -> [UInt8] {
    var stream = z_stream()
    let opened = deflateInit2_(
      &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    guard opened == Z_OK else { throw CompressionError(problem: "zlib has no memory") }
    defer { deflateEnd(&stream) }
    let room = Int(deflateBound(&stream, uLong(bytes.count)))
    var code = Z_OK
    var input = bytes
    let out = input.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = uInt(input.count)
      return [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
        stream.next_out = buffer.baseAddress
        stream.avail_out = uInt(room)
        code = deflate(&stream, Z_FINISH)
        count = room - Int(stream.avail_out)
      }
    }
    guard code == Z_STREAM_END else { throw CompressionError(problem: "zlib answered \(code)") }
    return out
  }

  /// Expands one file to at most `limitBytes`; a larger or damaged one is refused.
  public static func expand(
    _ bytes: [UInt8], limitBytes: Int
  ) throws(CompressionError) -> [UInt8] {
    var stream = z_stream()
    let opened = inflateInit2_(
      &stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard opened == Z_OK else { throw CompressionError(problem: "zlib has no memory") }
    defer { inflateEnd(&stream) }
    var out: [UInt8] = []
    var input = bytes
    let problem: String? = input.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = uInt(input.count)
      var code = Z_OK
      while code != Z_STREAM_END {
        // One byte more than the limit, so that a file of exactly the limit ends.
        let room = min(65_536, limitBytes + 1 - out.count)
        guard room > 0 else { return "it expands to more than \(limitBytes) bytes" }
        out.append(
          contentsOf: [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            stream.next_out = buffer.baseAddress
            stream.avail_out = uInt(room)
            code = inflate(&stream, Z_NO_FLUSH)
            count = room - Int(stream.avail_out)
          })
        if code == Z_STREAM_END { break }
        guard code == Z_OK else {
          return code == Z_BUF_ERROR ? "it ends too early" : "zlib answered \(code)"
        }
        if stream.avail_in == 0, stream.avail_out != 0 { return "it ends too early" }
      }
      guard out.count <= limitBytes else { return "it expands to more than \(limitBytes) bytes" }
      return stream.avail_in == 0 ? nil : "bytes follow its end"
    }
    if let problem { throw CompressionError(problem: problem) }
    return out
  }
}
