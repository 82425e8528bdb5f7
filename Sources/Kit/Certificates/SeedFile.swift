import Foundation

/// A file from device management for an app's first start, so that the user need not type it.
public struct SeedFile: Sendable, Equatable {
  /// The maximum size in bytes.
  public static let limitBytes = 1 << 20

  /// The result of a search for seed data.
  public enum Outcome: Sendable, Equatable {
    /// The file is there.
    case available(SeedFile)
    /// There is no file, or it cannot be read.
    case unavailable
    /// The device is not managed.
    case clientNotInstalled
    /// Device management was asked and has not answered yet.
    case settingsRequested
  }

  /// The bytes of the file, unchanged; they may be text, XML, JSON or another format.
  public let bytes: [UInt8]

  /// Throws `.tooLarge`.
  public init(_ bytes: [UInt8]) throws(CertificateError) {
    guard bytes.count <= Self.limitBytes else {
      throw CertificateError(
        .tooLarge, "the seed file has \(bytes.count) bytes, the limit is \(Self.limitBytes)")
    }
    self.bytes = bytes
  }

  /// Looks for a file at a path.
  ///
  /// `isManaged` says whether the device is managed, `isRequested` whether an answer is expected.
  public static func retrieve(
    path: String, isManaged: Bool = true, isRequested: Bool = false
  ) -> Outcome {
    guard isManaged else { return .clientNotInstalled }
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)),
      let file = try? SeedFile([UInt8](data))
    else { return isRequested ? .settingsRequested : .unavailable }
    return .available(file)
  }

  /// The values of lines `ObjectKey: value` and `key:value`, without blanks at their ends.
  ///
  /// Lines that do not have exactly one colon are ignored. If two lines have the same key, the
  /// later one is used. Empty if the bytes are not UTF-8 text.
  public var values: [String: String] {
    Dictionary(pairs) { _, last in last }
  }

  private var pairs: [(String, String)] {
    guard let text = String(validating: bytes, as: UTF8.self) else { return [] }
    var pairs: [(String, String)] = []
    for line in text.unicodeScalars.split(whereSeparator: { $0 == "\n" || $0 == "\r" }) {
      let parts = line.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2 else { continue }
      let key = String(parts[0]).trimmingCharacters(in: .whitespaces)
      guard !key.isEmpty else { continue }
      pairs.append((key, String(parts[1]).trimmingCharacters(in: .whitespaces)))
    }
    return pairs
  }

  /// The server that the file names; the case of keys does not matter.
  public var connection: SeedConnection {
    let lower = Dictionary(pairs.map { ($0.0.lowercased(), $0.1) }) { _, last in last }
    return SeedConnection(
      serverName: lower["server"],
      portNumber: lower["port"].flatMap { UInt16($0) }.flatMap { $0 == 0 ? nil : $0 },
      farmID: lower["farm id"], urlSuffix: lower["url suffix"])
  }
}

/// The server's address in a seed file; a field is nil if the file does not have it.
public struct SeedConnection: Sendable, Equatable {
  public let serverName: String?
  /// 1 to 65,535; nil if the text is not such a number.
  public let portNumber: UInt16?
  public let farmID: String?
  public let urlSuffix: String?
}
