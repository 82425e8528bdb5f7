import Foundation

/// Documentation/Wire.md, taken apart.
struct WireDocument {
  struct Block {
    /// The first word behind the fence: json, hex.
    let form: String
    /// The words after it.
    let name: String
    let text: String
    /// The heading it stands under.
    let section: String
  }

  let blocks: [Block]
  /// Cells of all table rows by the heading they stand under.
  let rows: [String: [[String]]]
  let sections: [String: String]

  init() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(
      contentsOf: root.appending(path: "Documentation/Wire.md"), encoding: .utf8)
    var blocks: [Block] = []
    var rows: [String: [[String]]] = [:]
    var sections: [String: String] = [:]
    var section = ""
    var fence: [Substring]?
    var lines: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        if let words = fence {
          blocks.append(
            Block(
              form: words.first.map(String.init) ?? "",
              name: words.dropFirst().joined(separator: " "),
              text: lines.joined(separator: "\n"), section: section))
          fence = nil
        } else {
          fence = line.dropFirst(3).split(separator: " ")
          lines = []
        }
        continue
      }
      guard fence == nil else {
        lines.append(String(line))
        continue
      }
      if line.hasPrefix("#") {
        section = String(line.drop { $0 == "#" || $0 == " " })
        continue
      }
      sections[section, default: ""] += line + "\n"
      if line.hasPrefix("| "), !line.hasPrefix("| ---") {
        let cells = line.split(separator: "|", omittingEmptySubsequences: false)
          .dropFirst().dropLast().map { $0.trimmingCharacters(in: .whitespaces) }
        rows[section, default: []].append(cells)
      }
    }
    self.blocks = blocks
    self.rows = rows
    self.sections = sections
  }

  func block(_ form: String, _ name: String) -> Block? {
    blocks.first { $0.form == form && $0.name == name }
  }

  /// The bytes of a dump: offset, bytes, their letters between bars.
  func bytes(_ name: String) -> [UInt8]? {
    guard let block = block("hex", name) else { return nil }
    var bytes: [UInt8] = []
    for line in block.text.split(separator: "\n") {
      let words = line.prefix { $0 != "|" }.split(separator: " ")
      guard let offset = words.first, Int(offset, radix: 16) == bytes.count else { return nil }
      let part = words.dropFirst().compactMap { UInt8($0, radix: 16) }
      let letters = part.map { (32..<127).contains($0) ? Character(Unicode.Scalar($0)) : "." }
      guard line.hasSuffix("|" + String(letters) + "|") else { return nil }
      bytes += part
    }
    return bytes
  }

  /// The words in backquotes in the first cells of a section's tables.
  func names(_ section: String) -> [String] {
    (rows[section] ?? []).flatMap { cells in
      (cells.first ?? "").split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
  }
}
