import FerryCompression
import FerryHTTP

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// A resource bundle as it lies on the disk: a ZIP or JAR whose manifest gives name and version.
struct BundleFile: Sendable, Equatable {
  let path: String
  let name: String
  let version: String
  let sizeBytes: Int64
  /// Differs after each change of the file, in the quotes of HTTP.
  let etag: String

  var id: String { "\(name):\(version)" }
  /// `zip` or `jar`.
  var ending: String { String(path.split(separator: ".").last ?? "zip") }

  static let mostBytes: Int64 = 2 << 30 - 1
  /// All files of a bundle together, expanded.
  static let mostExpandedBytes: Int64 = 4 << 30
  static let mostEntries = 65_535
  private static let mostManifestBytes = 64 << 10
  private static let manifest = "META-INF/MANIFEST.MF"

  /// Reads directory and manifest of a file; nothing else of it is read or expanded.
  init(path: String) throws(ApplicationsError) {
    guard let file = OpenFile(path: path) else {
      throw ApplicationsError(
        "the bundle \(path) cannot be read", hint: "Check that it is a file that ferryd may read.")
    }
    try self.init(file)
  }

  private init(_ file: OpenFile) throws(ApplicationsError) {
    func fault(_ text: String, _ hint: String) -> ApplicationsError {
      ApplicationsError("the bundle \(file.path) \(text)", hint: hint)
    }
    guard file.sizeBytes <= BundleFile.mostBytes else {
      throw fault("has 2 GB or more", "Make it smaller, or part it into several bundles.")
    }
    let zip: ZipDirectory
    switch ZipDirectory.read(file) {
    case .success(let read): zip = read
    case .failure(let problem):
      throw fault(problem.text, "Make the file anew with a program for ZIP files.")
    }
    guard let entry = zip.entries.first(where: { $0.name == BundleFile.manifest }) else {
      throw fault(
        "has no \(BundleFile.manifest)", "Add one with the lines \"Name: …\" and \"Version: …\".")
    }
    guard let text = entry.content(file, limitBytes: BundleFile.mostManifestBytes) else {
      throw fault(
        "has a damaged \(BundleFile.manifest)", "Make the file anew; the manifest is at most 64 KB."
      )
    }
    let lines = BundleFile.lines(text)
    guard let name = lines["name"] ?? lines["bundle-name"],
      let version = lines["version"] ?? lines["bundle-version"],
      BundleFile.isGood(name), BundleFile.isGood(version)
    else {
      throw fault(
        "has no name and version in its \(BundleFile.manifest)",
        "Write \"Name: …\" and \"Version: …\": 1 to 64 letters, digits, -, _, . and ~ each.")
    }
    path = file.path
    self.name = name
    self.version = version
    sizeBytes = file.sizeBytes
    etag = file.etag
  }

  static func isGood(_ text: String) -> Bool { ConnectionID.isGood(text) && text.utf8.count <= 64 }

  /// `name: value` in each line; a line that begins with a blank goes on with the one before it.
  private static func lines(_ bytes: [UInt8]) -> [String: String] {
    var lines: [[UInt8]] = []
    for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
      if line.first == 0x20, let last = lines.popLast() {
        lines.append(last + line.dropFirst())
      } else {
        lines.append(Array(line))
      }
    }
    var values: [String: String] = [:]
    for line in lines {
      let sides = line.split(separator: UInt8(ascii: ":"), maxSplits: 1)
      guard sides.count == 2 else { continue }
      let value = String(decoding: sides[1].drop { $0 == 0x20 }, as: UTF8.self)
      values[String(decoding: sides[0], as: UTF8.self).lowercased()] = value
    }
    return values
  }
}

/// A file that is open for reading, with the state that it had then.
final class OpenFile: Sendable {
  let path: String
  let sizeBytes: Int64
  let etag: String
  private let descriptor: Int32

  /// Nil where there is no such file, or it is no plain file.
  init?(path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    var state = stat()
    guard fstat(descriptor, &state) == 0, state.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    self.path = path
    self.descriptor = descriptor
    sizeBytes = Int64(state.st_size)
    #if canImport(Darwin)
      let time = state.st_mtimespec
    #else
      let time = state.st_mtim
    #endif
    etag = "\"\(state.st_ino)-\(state.st_size)-\(time.tv_sec)-\(time.tv_nsec)\""
  }

  deinit { close(descriptor) }

  /// At most `count` bytes; fewer at the end, nil where the disk fails.
  func read(at offset: Int64, count: Int) -> [UInt8]? {
    var isGood = true
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = 0
      while filled < count, let start = buffer.baseAddress {
        let got = pread(descriptor, start + filled, count - filled, off_t(offset) + off_t(filled))
        if got < 0, errno == EINTR { continue }
        isGood = got >= 0
        guard got > 0 else { break }
        filled += got
      }
    }
    return isGood ? bytes : nil
  }
}

/// What a ZIP file says of its entries (APPNOTE 4.3.12).
struct ZipDirectory {
  struct Problem: Error { let text: String }

  struct Entry {
    let name: String
    let method: Int
    let packedBytes: Int64
    let expandedBytes: Int64
    let headerOffset: Int64

    /// Its content; nil where it is damaged, larger, or packed in another way than by deflate.
    func content(_ file: OpenFile, limitBytes: Int) -> [UInt8]? {
      guard packedBytes <= limitBytes, expandedBytes <= limitBytes,
        let header = file.read(at: headerOffset, count: 30), header.count == 30,
        ZipDirectory.number(header, 0, 4) == 0x0403_4B50
      else { return nil }
      let names = ZipDirectory.number(header, 26, 2) + ZipDirectory.number(header, 28, 2)
      guard let packed = file.read(at: headerOffset + 30 + names, count: Int(packedBytes)),
        packed.count == Int(packedBytes)
      else { return nil }
      switch method {
      case 0: return packed
      case 8: return try? Deflate.expandRaw(packed[...], limitBytes: max(Int(expandedBytes), 1))
      default: return nil
      }
    }
  }

  let entries: [Entry]

  static func read(_ file: OpenFile) -> Result<ZipDirectory, Problem> {
    let tail = Int(min(file.sizeBytes, 22 + 65_535))
    guard let bytes = file.read(at: file.sizeBytes - Int64(tail), count: tail),
      let end = stride(from: bytes.count - 22, through: 0, by: -1).first(where: {
        number(bytes, $0, 4) == 0x0605_4B50
          && $0 + 22 + Int(number(bytes, $0 + 20, 2)) == bytes.count
      })
    else { return .failure(Problem(text: "is no ZIP file")) }
    let count = Int(number(bytes, end + 10, 2))
    let size = number(bytes, end + 12, 4)
    let offset = number(bytes, end + 16, 4)
    guard count > 0, count < 0xFFFF, size <= 64 << 20, offset + size <= file.sizeBytes,
      number(bytes, end + 8, 2) == Int64(count),
      let directory = file.read(at: offset, count: Int(size)), directory.count == Int(size)
    else { return .failure(Problem(text: "has a damaged directory")) }
    var entries: [Entry] = []
    var place = 0
    var expanded: Int64 = 0
    for _ in 0..<count {
      guard place + 46 <= directory.count, number(directory, place, 4) == 0x0201_4B50 else {
        return .failure(Problem(text: "has a damaged directory"))
      }
      let lengths = (0..<3).map { Int(number(directory, place + 28 + 2 * $0, 2)) }
      let next = place + 46 + lengths.reduce(0, +)
      guard next <= directory.count else {
        return .failure(Problem(text: "has a damaged directory"))
      }
      let name = String(
        decoding: directory[place + 46..<place + 46 + lengths[0]], as: UTF8.self)
      let entry = Entry(
        name: name, method: Int(number(directory, place + 10, 2)),
        packedBytes: number(directory, place + 20, 4),
        expandedBytes: number(directory, place + 24, 4),
        headerOffset: number(directory, place + 42, 4))
      guard isInside(name) else {
        return .failure(Problem(text: "has an entry that leads out of its folder: \(shown(name))"))
      }
      expanded += entry.expandedBytes
      guard expanded <= BundleFile.mostExpandedBytes,
        entry.expandedBytes <= max(entry.packedBytes, 1) * 1_032 + 1_024
      else {
        return .failure(
          Problem(text: "would expand to far more than it has: \(shown(name))"))
      }
      entries.append(entry)
      place = next
    }
    return .success(ZipDirectory(entries: entries))
  }

  /// Whether a program that expands the entry writes below its own folder.
  private static func isInside(_ name: String) -> Bool {
    !name.isEmpty && !name.hasPrefix("/") && !name.utf8.contains(UInt8(ascii: "\\"))
      && !name.utf8.contains(0) && name.utf8.dropFirst().first != UInt8(ascii: ":")
      && !name.split(separator: "/", omittingEmptySubsequences: false).contains("..")
  }

  private static func shown(_ name: String) -> String {
    String(
      decoding: name.utf8.prefix(80).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") },
      as: UTF8.self)
  }

  fileprivate static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int64 {
    (0..<count).reduce(0) { $0 | Int64(bytes[place + $1]) << (8 * Int64($1)) }
  }
}
