#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// Reads files that hold secrets: nobody but their owner may read them.
package enum PrivateFile {
  /// Why a file is not read, in the order in which it is looked at.
  package enum Fault: Error {
    /// It is missing, or may not be opened.
    case unreadable
    /// A folder, a pipe or a device.
    case noFile
    /// Others may read it.
    case open
    case tooLarge
  }

  /// `forbidden`: rights that the file must not have.
  package static func read(
    _ path: String, atMost limitBytes: Int = 1 << 20, without forbidden: mode_t = 0o077
  ) throws(Fault) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .unreadable }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { throw .noFile }
    guard facts.st_mode & forbidden == 0 else { throw .open }
    guard facts.st_size <= limitBytes else { throw .tooLarge }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while case let count = systemRead(descriptor, &piece, piece.count), count > 0 {
      bytes += piece.prefix(count)
      // It may grow meanwhile.
      guard bytes.count <= limitBytes else { throw .tooLarge }
    }
    return bytes
  }

  private static func systemRead(
    _ descriptor: Int32, _ memory: UnsafeMutableRawPointer, _ count: Int
  ) -> Int {
    #if canImport(Darwin)
      Darwin.read(descriptor, memory, count)
    #else
      Glibc.read(descriptor, memory, count)
    #endif
  }
}
