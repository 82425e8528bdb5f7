import FerryJSON

/// A parser that meets foreign bytes, with what must hold of it for any bytes.
///
/// The fuzzer (Fuzzing/, a package of its own) and the tests of the corpora call the same functions.
/// A trap is a finding, and so is a promise that `run` finds broken.
public struct FuzzTarget: Sendable {
  public let name: String
  /// Parses the bytes at once and in pieces, and writes the result if the format has a writer.
  /// Returns the broken promise, or nil.
  public let run: @Sendable ([UInt8]) -> String?
  /// What stands behind a header that the parser takes; nil when there is none. Here a planted trap
  /// lies.
  public let afterHeader: @Sendable ([UInt8]) -> [UInt8]?

  init(
    _ name: String, afterHeader: @escaping @Sendable ([UInt8]) -> [UInt8]?,
    run: @escaping @Sendable ([UInt8]) -> String?
  ) {
    self.name = name
    self.run = run
    self.afterHeader = afterHeader
  }

  /// All targets, in the order in which the house reads bytes.
  public static let all: [FuzzTarget] =
    [
      .frames, .messages, .contents, .tokens, .model, .http, .metadata, .atom, .json, .batch,
      .address, .numbers,
    ] + kit

  /// Cuts bytes into pieces whose lengths follow from the bytes themselves.
  static func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var start = 0
    while start < bytes.count {
      let size = 1 + Int(bytes[start]) % 13
      let end = min(start + size, bytes.count)
      pieces.append(Array(bytes[start..<end]))
      start = end
    }
    return pieces
  }

  /// What stands behind the first member of a JSON object.
  static func afterFirstMember(_ bytes: [UInt8]) -> [UInt8]? {
    let end: Int? = bytes.withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer)
      guard (try? scanner.enterObject()) != nil, let key = try? scanner.nextKey(), !key.isEmpty,
        (try? scanner.skipValue()) != nil
      else { return nil }
      return scanner.position
    }
    return end.map { Array(bytes[$0...]) }
  }
}
