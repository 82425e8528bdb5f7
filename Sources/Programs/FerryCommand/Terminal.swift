import Foundation

#if canImport(FoundationEssentials)
  import FoundationEssentials
#endif

/// What people see: plain text, answers on the standard output, complaints on the other.
enum Terminal {
  static func error(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
  }

  static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  static func counted(_ number: Int, _ one: String, _ many: String) -> String {
    number == 1 ? "1 \(one)" : "\(number) \(many)"
  }
}
