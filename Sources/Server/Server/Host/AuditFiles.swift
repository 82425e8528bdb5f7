import FerryWorld

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// The files of an audit log: the one that is written, and older ones named `.1`, the newest, to `.7`.
///
/// The written one makes room when it is large or old. Of the oldest, which goes, the lines of
/// operators stay, at the end of a file named `.operator` that is never cut. Belongs to one thread at a
/// time.
struct AuditFiles {
  /// A file, and so eight times as much on the disk.
  static let fileBytes = 16 << 20
  static let olderFiles = 7
  /// For how long lines go into one file, and how long an older one stays.
  static let fileDays: Int64 = 30
  static let keptDays: Int64 = 400
  private static let day: Int64 = 86_400_000

  let path: String
  var fileBytes = AuditFiles.fileBytes
  /// The system's write, which takes a part only where the disk is full; a test fills it.
  var systemWrite: @Sendable (CInt, [UInt8]) -> Int = { write($0, $1, $1.count) }
  /// When the first line of the file that is written came; nil: not known yet.
  private var begun: Int64?
  /// When the age of the files was last looked at.
  private var looked: Int64?

  init(path: String) { self.path = path }

  /// Appends a line; false where it could not be written, with the reason in `errno`.
  mutating func append(_ line: [UInt8], now: Int64) -> Bool {
    var descriptor = opened()
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    let size = Int(status.st_size)
    if size == 0 { begun = now }
    let first = begun ?? AuditFiles.time(of: AuditFiles.read(path, atMost: 64)) ?? now
    begun = first
    let isOld = now - first > AuditFiles.fileDays * AuditFiles.day
    if size > 0, size + line.count > fileBytes || isOld, makeRoom() {
      close(descriptor)
      descriptor = opened()
      begun = now
      guard descriptor >= 0 else { return false }
    }
    if now - (looked ?? 0) > AuditFiles.day {
      looked = now
      removeOld(now)
    }
    return appendWhole(line, to: descriptor)
  }

  /// One write: lines of several processes do not mix. Where a part of it only found room it is cut
  /// off again, so that the file ends with a whole line; then false, with the reason in `errno`.
  private func appendWhole(_ lines: [UInt8], to descriptor: CInt) -> Bool {
    let count = systemWrite(descriptor, lines)
    guard count >= 0 else { return false }
    guard count < lines.count else { return true }
    // Behind the part that was written, wherever the file ended before.
    let end = lseek(descriptor, 0, SEEK_CUR)
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_size == end {
      _ = ftruncate(descriptor, end - off_t(count))
    }
    errno = ENOSPC
    return false
  }

  private func opened() -> CInt {
    open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
  }

  private func older(_ number: Int) -> String { "\(path).\(number)" }

  /// Each file takes the name of the next older one. False where the written one keeps its name.
  private func makeRoom() -> Bool {
    guard keepOperatorLines(of: older(AuditFiles.olderFiles)) else { return false }
    for number in stride(from: AuditFiles.olderFiles - 1, through: 1, by: -1) {
      rename(older(number), older(number + 1))
    }
    return rename(path, older(1)) == 0
  }

  private func removeOld(_ now: Int64) {
    for number in 1...AuditFiles.olderFiles {
      var status = stat()
      guard stat(older(number), &status) == 0 else { continue }
      let written = Int64(AuditFiles.seconds(status)) * 1_000
      guard now - written > AuditFiles.keptDays * AuditFiles.day,
        keepOperatorLines(of: older(number))
      else { continue }
      unlink(older(number))
    }
  }

  private static func seconds(_ status: stat) -> Int {
    #if canImport(Darwin)
      status.st_mtimespec.tv_sec
    #else
      status.st_mtim.tv_sec
    #endif
  }

  /// False where a line would be lost; true where there is no such file.
  private func keepOperatorLines(of file: String) -> Bool {
    let bytes = AuditFiles.read(file, atMost: .max)
    guard !bytes.isEmpty else { return true }
    let kept: [UInt8] = bytes.split(separator: 10).filter { AuditFiles.isOperators($0) }
      .flatMap { $0 + [10] }
    guard !kept.isEmpty else { return true }
    let descriptor = open(
      "\(path).operator", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return appendWhole(kept, to: descriptor)
  }

  /// Whether an operator caused the line, whose second member is the event.
  private static func isOperators(_ line: ArraySlice<UInt8>) -> Bool {
    let mark = Array(#""event":""#.utf8)
    let head = Array(line.prefix(64))
    for start in head.indices where head[start...].starts(with: mark) {
      let word = head[(start + mark.count)...].prefix { $0 != UInt8(ascii: "\"") }
      let event = AuditLog.Event(rawValue: String(decoding: word, as: UTF8.self))
      return event.map { $0.isOfOperator } ?? true
    }
    return true
  }

  /// The time in a line's beginning.
  private static func time(of bytes: [UInt8]) -> Int64? {
    let mark = Array(#"{"time":"#.utf8)
    guard bytes.starts(with: mark) else { return nil }
    return Int64(
      String(decoding: bytes.dropFirst(mark.count).prefix { (48...57).contains($0) }, as: UTF8.self)
    )
  }

  /// Empty where there is no such file.
  private static func read(_ path: String, atMost limit: Int) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: min(limit, 1 << 20))
    while bytes.count < limit {
      let count = systemRead(descriptor, &part, min(part.count, limit - bytes.count))
      guard count > 0 else { break }
      bytes += part.prefix(count)
    }
    return bytes
  }
}

private func systemRead(_ descriptor: CInt, _ buffer: inout [UInt8], _ count: Int) -> Int {
  read(descriptor, &buffer, count)
}
