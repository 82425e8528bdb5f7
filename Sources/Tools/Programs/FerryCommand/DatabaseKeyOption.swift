import Ferry
import FerryArguments
import FerryGenerator
import FerryText
import Glibc

/// The key of a sealed database, from a file or from the environment: never from the command line,
/// which every user of the machine can read.
enum DatabaseKeyOption {
  static let options = [
    CommandOption(
      "key-file", "FILE", "key of a sealed database: 32 bytes, or 64 hexadecimal digits"),
    CommandOption("passphrase-file", "FILE", "passphrase of a sealed database; the first line"),
  ]
  static let discussion = """
    The key of a sealed database comes from a file or from FERRY_DATABASE_KEY (hexadecimal digits)
    or FERRY_DATABASE_PASSPHRASE in the environment.
    """

  static func key(
    _ arguments: Arguments, environment: (String) -> String? = environment
  ) throws -> DatabaseKey? {
    let files = (try arguments.value("key-file"), try arguments.value("passphrase-file"))
    switch files {
    case (_?, _?):
      throw UsageError(
        "--key-file and --passphrase-file cannot be used together",
        hint: "A database has either a key or a passphrase: leave out the other option.")
    case (let file?, nil): return try key(try TextFile.read(file), of: file)
    case (nil, let file?):
      let line = try TextFile.read(file).prefix { $0 != 10 && $0 != 13 }
      return DatabaseKey(passphrase: String(decoding: line, as: UTF8.self))
    case (nil, nil): break
    }
    if let text = environment("FERRY_DATABASE_KEY") {
      return try key(Array(text.utf8), of: "FERRY_DATABASE_KEY")
    }
    return environment("FERRY_DATABASE_PASSPHRASE").map { DatabaseKey(passphrase: $0) }
  }

  private static let keyBytes = 32

  private static func key(_ bytes: [UInt8], of place: String) throws -> DatabaseKey {
    if bytes.count == keyBytes { return try DatabaseKey(bytes: bytes) }
    let digits = bytes.filter { $0 != 10 && $0 != 13 }.map { Hexadecimal.value($0) }
    guard digits.count == keyBytes * 2, !digits.contains(nil) else {
      throw UsageError(
        "\(place) does not contain a key: it has \(bytes.count) bytes",
        hint:
          "A key has 32 bytes, or 64 hexadecimal digits. For a passphrase use --passphrase-file."
      )
    }
    let values = digits.compactMap { $0 }
    return try DatabaseKey(
      bytes: stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] })
  }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
