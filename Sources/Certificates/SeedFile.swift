import Foundation

/// What device management gives an app at its first start, in place of a user who types it.
public struct SeedFile: Sendable, Equatable {
  /// A larger file is refused, in bytes.
  public static let limitBytes = 1 << 20

  /// What asking for seed data may end with.
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

  /// The bytes as they came; text, XML, JSON and others are all handed on.
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
  /// `isManaged` says whether the device is managed at all, `isRequested` whether an answer is awaited.
  public static func retrieve(
    path: String, isManaged: Bool = true, isRequested: Bool = false
  ) -> Outcome {
    guard isManaged else { return .clientNotInstalled }
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)),
      let file = try? SeedFile([UInt8](data))
    else { return isRequested ? .settingsRequested : .unavailable }
    return .available(file)
  }

  /// The values of lines `Key: value` and `key:value`; blanks around both do not count.
  ///
  /// Lines that a colon does not cut into exactly two parts are passed over. Of two lines with one key
  /// the later holds. Empty for bytes that are no text of UTF-8.
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

  /// The server that the file names; keys in any case.
  public var connection: SeedConnection {
    let lower = Dictionary(pairs.map { ($0.0.lowercased(), $0.1) }) { _, last in last }
    return SeedConnection(
      serverName: lower["server"],
      portNumber: lower["port"].flatMap { UInt16($0) }.flatMap { $0 == 0 ? nil : $0 },
      farmID: lower["farm id"], urlSuffix: lower["url suffix"])
  }
}

/// Where a seed file says that the server is; nil for what it does not say.
public struct SeedConnection: Sendable, Equatable {
  public let serverName: String?
  /// 1 to 65,535; nil for a text that is no such number.
  public let portNumber: UInt16?
  public let farmID: String?
  public let urlSuffix: String?
}
