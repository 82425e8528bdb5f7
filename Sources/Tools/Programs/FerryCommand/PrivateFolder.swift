import FerryCrypto
import Glibc

/// A new folder for its owner alone, with its files.
///
/// Nobody else can have prepared it: it is made under a name that nobody can guess, each file in it is
/// new, and it gets its own name when everything is on the disk. Without `finish` it goes away.
final class PrivateFolder {
  /// Where it is until it is finished.
  let part: String
  private let path: String
  private let name: String
  private let partName: String
  private let parent: OpenFolder
  private let folder: OpenFolder
  private var folders: Set<String> = []
  private var isFinished = false

  /// Nothing may be at `path` but an empty folder. The folder that it is in must exist.
  init(_ path: String) throws(CommandError) {
    var bare = path[...]
    while bare.count > 1, bare.last == "/" { bare.removeLast() }
    let slash = bare.lastIndex(of: "/")
    name = String(slash.map { bare[bare.index(after: $0)...] } ?? bare)
    guard !["", ".", ".."].contains(name) else {
      throw CommandError("\(path) is no name of a new folder", hint: "Name a new folder.")
    }
    self.path = path
    parent = try OpenFolder(slash.map { String(bare[...$0]) } ?? ".")
    try parent.requireTrusted("the folder")
    try PrivateFolder.requireNone(name, in: parent, path)
    partName = "\(name).\(hexadecimal(randomBytes(8))).part"
    guard mkdirat(parent.descriptor, partName, 0o700) == 0 else {
      throw CommandError(
        "the folder \(path) cannot be made: \(String(cString: strerror(errno)))",
        hint: "Name a folder inside a folder that you may write to.")
    }
    let real = parent.realPath
    part = real == "/" ? "/\(partName)" : "\(real)/\(partName)"
    folder = try OpenFolder(part, followsLink: false)
    guard folder.isAt(partName, in: parent), folder.owner == geteuid(),
      fchmod(folder.descriptor, 0o700) == 0
    else { throw failure("made") }
  }

  deinit { if !isFinished { discard() } }

  private static func requireNone(
    _ name: String, in parent: OpenFolder, _ path: String
  ) throws(CommandError) {
    var found = stat()
    guard fstatat(parent.descriptor, name, &found, AT_SYMLINK_NOFOLLOW) == 0 else { return }
    let isEmpty =
      found.st_mode & S_IFMT == S_IFDIR
      && PrivateFolder.names(in: "/proc/self/fd/\(parent.descriptor)/\(name)").isEmpty
    guard isEmpty else {
      throw CommandError(
        "\(path) already exists and was not changed", hint: "Name a folder that does not exist.")
    }
  }

  /// A new, empty file for its owner alone, open for writing. `name` may have one folder before it,
  /// which is made. Throws where the file is there.
  func make(_ name: String) throws(CommandError) -> CInt {
    if let slash = name.firstIndex(of: "/") {
      let inner = String(name[..<slash])
      if folders.insert(inner).inserted, mkdirat(folder.descriptor, inner, 0o700) != 0 {
        throw failure("made")
      }
    }
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let file = openat(folder.descriptor, name, flags, 0o600)
    guard file >= 0 else {
      throw CommandError(
        "\(path)/\(name) cannot be made: \(String(cString: strerror(errno)))",
        hint: "Check the disk and its free space.")
    }
    return file
  }

  /// Writes a whole new file.
  func write(_ bytes: [UInt8], to name: String) throws(CommandError) {
    let file = try make(name)
    defer { close(file) }
    try append(bytes, to: file)
    try synchronize(file)
  }

  /// Copies a file into a new one. Returns its size and SHA-256.
  func copy(
    _ source: CInt, to name: String, progress: (Int64) -> Void = { _ in }
  ) throws(CommandError) -> (bytes: Int64, digest: String) {
    let file = try make(name)
    defer { close(file) }
    let hasher = SHA256Hasher()
    var count: Int64 = 0
    while case let piece = try read(source), !piece.isEmpty {
      piece.withUnsafeBytes { hasher.update($0) }
      try append(piece, to: file)
      count += Int64(piece.count)
      progress(count)
    }
    try synchronize(file)
    return (count, hexadecimal(hasher.finish()))
  }

  /// Reads a file of it that somebody else wrote. Returns its size and SHA-256.
  func digest(of name: String) throws(CommandError) -> (bytes: Int64, digest: String) {
    let file = try folder.reading(name)
    defer { close(file) }
    let hasher = SHA256Hasher()
    var count: Int64 = 0
    while case let piece = try read(file), !piece.isEmpty {
      piece.withUnsafeBytes { hasher.update($0) }
      count += Int64(piece.count)
    }
    try synchronize(file)
    return (count, hexadecimal(hasher.finish()))
  }

  /// Everything is on the disk before the folder has its name.
  func finish() throws(CommandError) {
    for name in folders {
      let inner = try OpenFolder("\(part)/\(name)", followsLink: false)
      defer { withExtendedLifetime(inner) {} }
      try synchronize(inner.descriptor)
    }
    try synchronize(folder.descriptor)
    try PrivateFolder.requireNone(name, in: parent, path)
    // In the place of an empty folder too.
    guard renameat(parent.descriptor, partName, parent.descriptor, name) == 0 else {
      throw failure("named")
    }
    isFinished = true
    guard folder.isAt(name, in: parent) else { throw failure("found where it was written") }
    try synchronize(parent.descriptor)
  }

  private func discard() {
    for name in folders { PrivateFolder.clear("\(part)/\(name)") }
    PrivateFolder.clear(part)
  }

  private static func clear(_ folder: String) {
    for name in names(in: folder) { unlink("\(folder)/\(name)") }
    rmdir(folder)
  }

  private static func names(in folder: String) -> [String] {
    guard let list = opendir(folder) else { return [] }
    defer { closedir(list) }
    var names: [String] = []
    while let entry = readdir(list) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  private static let pieceBytes = 1 << 20

  private func read(_ file: CInt) throws(CommandError) -> [UInt8] {
    while true {
      var count = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: PrivateFolder.pieceBytes) { buffer, filled in
        count = Glibc.read(file, buffer.baseAddress, buffer.count)
        filled = max(0, count)
      }
      if count >= 0 { return bytes }
      if errno != EINTR { throw failure("read") }
    }
  }

  private func append(_ bytes: [UInt8], to file: CInt) throws(CommandError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw failure("written")
      }
    }
  }

  private func synchronize(_ descriptor: CInt) throws(CommandError) {
    guard fsync(descriptor) == 0 else { throw failure("written") }
  }

  private func failure(_ deed: String) -> CommandError {
    CommandError(
      "\(path) cannot be \(deed): \(String(cString: strerror(errno)))",
      hint: "Check the disk and its free space, and that nobody else changes the folder it is in.")
  }
}
