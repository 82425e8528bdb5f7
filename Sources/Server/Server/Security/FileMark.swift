#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// What differs once a file was written anew.
struct FileMark: Equatable {
  private var inode: UInt64 = 0
  private var size: Int64 = 0
  private var seconds: Int64 = 0
  private var nanoseconds: Int64 = 0

  /// Of a file that is not there all are 0.
  init(_ path: String) {
    var known = stat()
    guard stat(path, &known) == 0 else { return }
    inode = UInt64(known.st_ino)
    size = Int64(known.st_size)
    #if canImport(Darwin)
      seconds = Int64(known.st_mtimespec.tv_sec)
      nanoseconds = Int64(known.st_mtimespec.tv_nsec)
    #else
      seconds = Int64(known.st_mtim.tv_sec)
      nanoseconds = Int64(known.st_mtim.tv_nsec)
    #endif
  }

  var isOfFile: Bool { inode != 0 }
}
