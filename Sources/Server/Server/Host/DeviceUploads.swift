import FerryCompression
import FerryCrypto
import FerryJSON
import FerryWorld

/// Log records and traces that apps send, in files beside the server's own log.
///
/// A file is exactly what the app sent: `ferry log <file>` shows records, and a collector of
/// OpenTelemetry takes traces. The newest of each user stay, so that nobody fills the disk.
struct DeviceUploads: Sendable {
  enum Kind: String, Sendable {
    case logs, traces
  }

  /// Why an upload is not kept.
  enum Refusal: Error, Equatable {
    /// It is no file of this kind.
    case unreadable(String)
    case disk(String)
  }

  struct Kept: Sendable {
    let file: String
    /// Ids of the traces in it; ten at most.
    let traces: [String]
  }

  /// A body: 500 records have about 20 KB packed.
  static let bodyBytes = 1 << 20
  /// A body unpacked, so that a small file does not fill the memory.
  static let textBytes = 16 << 20
  /// Files of one user and kind that stay.
  static let filesPerUser = 50
  /// Files of one kind that stay: 500 MB at most.
  static let files = 500

  /// The folder that has the folders `device-logs` and `device-traces`.
  let folder: String
  let world: World
  var access: any FileAccess = SystemFiles()

  /// Keeps one body; blocks its thread for the disk.
  func keep(
    _ body: [UInt8], _ kind: Kind, of identity: CheckedIdentity
  ) throws(Refusal) -> Kept {
    try keep(body, kind, user: identity.identity.user, device: identity.identity.device ?? "")
  }

  /// The same for a user and device by name.
  func keep(
    _ body: [UInt8], _ kind: Kind, user: String, device: String
  ) throws(Refusal) -> Kept {
    let traces = try DeviceUploads.check(body, kind)
    let isPacked = body.starts(with: Gzip.header)
    let ending = kind == .traces ? "json" : isPacked ? "log.gz" : "log"
    let owner = DeviceUploads.owner(user)
    let moment = String(world.clock.now.milliseconds)
    let time = String(repeating: "0", count: max(0, 14 - moment.count)) + moment
    let chance = hexadecimal(world.chance.bytes(3))
    let name = "\(time)-\(chance)-\(owner)-\(DeviceUploads.plain(device)).\(ending)"
    let place = "\(folder)/device-\(kind.rawValue)"
    do throws(FileError) {
      try access.createFolder(place)
      try access.replace("\(place)/\(name)", with: body)
      try sweep(place, owner)
    } catch {
      throw .disk(error.description)
    }
    return Kept(file: name, traces: traces)
  }

  /// Removes the oldest beyond the bounds. Names begin with the time.
  private func sweep(_ place: String, _ owner: String) throws(FileError) {
    let names = (try access.names(in: place) ?? []).filter { !$0.hasPrefix(".") }.sorted()
    let own = names.filter { $0.contains("-\(owner)-") }
    let old = Set(own.dropLast(DeviceUploads.filesPerUser) + names.dropLast(DeviceUploads.files))
    for name in old { _ = try access.remove("\(place)/\(name)") }
  }

  /// The user in a file's name: readable, and of its own for each user.
  static func owner(_ user: String) -> String {
    let digest = hexadecimal(SHA256Digest.hash(Array(user.utf8)).prefix(8))
    return "\(plain(user))-\(digest)"
  }

  /// At most 32 letters that every file system takes.
  private static func plain(_ text: String) -> String {
    let letters = text.utf8.suffix(32).map { byte -> UInt8 in
      switch byte {
      case 48...57, 65...90, 97...122: byte
      default: UInt8(ascii: "_")
      }
    }
    return String(decoding: letters, as: UTF8.self)
  }

  private static func check(_ body: [UInt8], _ kind: Kind) throws(Refusal) -> [String] {
    switch kind {
    case .logs:
      let text: [UInt8]
      do throws(CompressionError) {
        text =
          body.starts(with: Gzip.header)
          ? try Gzip.expand(body, limitBytes: textBytes) : body
      } catch {
        throw .unreadable("the log is not a complete gzip file, or is too large")
      }
      guard !text.isEmpty, String(validating: text, as: UTF8.self) != nil, !text.contains(0) else {
        throw .unreadable("the log is not text")
      }
      return []
    case .traces:
      guard let root = try? JSONNode.parse(body, nodeLimit: 500_000),
        let resources = root["resourceSpans"]?.array
      else { throw .unreadable("the trace is no JSON of OTLP with resourceSpans") }
      var found: [String] = []
      for scope in resources.flatMap({ $0["scopeSpans"]?.array ?? [] }) {
        for span in scope["spans"]?.array ?? [] {
          guard let id = span["traceId"]?.string, id.utf8.count == 32,
            id.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
          else { continue }
          if !found.contains(id), found.count < 10 { found.append(id) }
        }
      }
      return found
    }
  }
}
