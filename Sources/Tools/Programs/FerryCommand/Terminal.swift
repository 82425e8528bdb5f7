import Foundation

#if canImport(FoundationEssentials)
  import FoundationEssentials
#endif

/// What people see: plain text, answers on the standard output, complaints on the other.
enum Terminal {
  static func error(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data((lines(text) + "\n").utf8))
  }

  /// Prints. Names and texts of others are in it, so nothing steers the terminal: it is written out.
  static func show(_ text: String, asJSON: Bool = false) {
    print(asJSON ? harmlessJSON(text) : lines(text))
  }

  /// A document as it is; on a terminal nothing of it steers.
  static func write(_ bytes: [UInt8]) throws {
    let isSeen = isatty(STDOUT_FILENO) == 1
    let data = isSeen ? Data(lines(String(decoding: bytes, as: UTF8.self)).utf8) : Data(bytes)
    try FileHandle.standardOutput.write(contentsOf: data)
  }

  /// The same document, with escapes of JSON for what would steer the terminal.
  static func harmlessJSON(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars {
      if scalar == "\n" || isHarmless(scalar) {
        shown.unicodeScalars.append(scalar)
      } else {
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          shown += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      }
    }
    return shown
  }

  private static func lines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { harmless(String($0)) }
      .joined(separator: "\n")
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
    default: true
    }
  }

  /// Text from elsewhere, such as a device: what would steer the terminal is written out, as `\u{1B}`,
  /// and so are marks that turn the direction of writing.
  static func harmless(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars {
      if isHarmless(scalar) {
        shown.unicodeScalars.append(scalar)
      } else {
        shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
    return shown
  }

  static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  static func counted(_ number: Int, _ one: String, _ many: String) -> String {
    number == 1 ? "1 \(one)" : "\(number) \(many)"
  }
}
