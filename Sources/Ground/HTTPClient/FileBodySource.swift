#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file as the body of a request.
///
/// `@unchecked Sendable`: the descriptor never changes, and one reader at a time moves it.
final class FileBodySource: TransportBodySource, @unchecked Sendable {
  let lengthBytes: Int
  private let descriptor: CInt
  private let path: String

  /// Bytes read at a time.
  private static let pieceBytes = 256 * 1024

  init(_ path: String) throws(TransportError) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .unreadableBody("\(path): \(String(cString: strerror(errno)))")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw .unreadableBody("\(path) is not a file")
    }
    lengthBytes = Int(status.st_size)
  }

  deinit { close(descriptor) }

  func next() async throws -> [UInt8]? {
    var reason: CInt = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { buffer, count in
      var got = -1
      repeat {
        got = read(descriptor, buffer.baseAddress, buffer.count)
      } while got < 0
        && errno == EINTR
      if got < 0 { reason = errno }
      count = max(got, 0)
    }
    guard reason == 0 else {
      throw TransportError.unreadableBody("\(path): \(String(cString: strerror(reason)))")
    }
    return bytes.isEmpty ? nil : bytes
  }
}
