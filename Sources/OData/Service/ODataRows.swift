import FerryOData
import FerryODataAddress

/// The rows of an answer, some at a time: what the source gives in its order, or what was sorted here.
final actor ODataRows {
  /// Some rows, and what comes behind them.
  struct Part: Sendable {
    var entries: [ODataEntry]
    /// Only of changes: addresses of entities that are not in the answer any more, with the reason.
    var deleted: [ODataDeletedEntry] = []
    /// Whether no other part comes.
    var isLast: Bool
    /// Where the next page of the answer begins; nil: there is none.
    var token: ODataToken?
  }

  private enum Kind: Sendable {
    case ready([ODataEntry])
    case scan(ODataScan)
    case changes(ODataChanges)
  }

  private let kind: Kind
  private var skip: Int
  private var top: Int?
  private var position: String?
  private var given: Int = 0
  private var scanned: Int = 0
  private var isOver: Bool = false
  /// How many entities one page has.
  nonisolated let pageSize: Int?
  /// From where later changes can be asked for; nil where nobody wants to, or nobody can.
  nonisolated let mark: String?

  init(_ changes: ODataChanges) {
    kind = .changes(changes)
    mark = changes.mark
    (skip, top, pageSize, position) = (0, nil, nil, nil)
  }

  init(ready entries: [ODataEntry]) {
    kind = .ready(entries)
    mark = nil
    (skip, top, pageSize, position) = (0, nil, nil, nil)
  }

  init(_ scan: ODataScan, _ token: ODataToken?, pageSize: Int?, mark: String? = nil) {
    kind = .scan(scan)
    self.mark = mark
    self.pageSize = pageSize
    skip = token == nil ? scan.work.options.skip ?? 0 : 0
    top = token.map(\.top) ?? scan.work.options.top
    position = token?.position
  }

  func next() async throws(ODataRefusal) -> Part {
    switch kind {
    case .ready(let entries): return Part(entries: entries, isLast: true, token: nil)
    case .scan(let scan): return try await next(of: scan)
    case .changes(let changes):
      let part = try await changes.part(from: given)
      given += changes.step
      return part
    }
  }

  private func next(of scan: ODataScan) async throws(ODataRefusal) -> Part {
    let limits = scan.work.limits
    while !isOver {
      if top == 0 { return Part(entries: [], isLast: true, token: nil) }
      let page = try await scan.page(after: position, count: limits.pageRows)
      scanned += page.scanned
      isOver = page.isLast
      var part = Part(entries: [], isLast: page.isLast, token: nil)
      for row in page.rows {
        position = row.position
        if skip > 0 {
          skip -= 1
          continue
        }
        part.entries.append(row.entry)
        given += 1
        if let left = top { top = left - 1 }
        if top == 0 {
          part.isLast = true
          return part
        }
        if let pageSize, given >= pageSize {
          part.isLast = true
          let isEnd = page.isLast && row.position == page.rows.last?.position
          if !isEnd {
            part.token = ODataToken(
              position: row.position, top: top, values: row.values, mark: mark)
          }
          return part
        }
      }
      if let end = page.end { position = end }
      if part.isLast || !part.entries.isEmpty { return part }
      if scanned >= limits.scanRows || scan.work.budget.isOver, skip == 0, let position {
        part.isLast = true
        part.token = ODataToken(position: position, top: top, values: [], mark: mark)
        return part
      }
      if scanned >= limits.scanRows { try scan.tooMany() }
    }
    return Part(entries: [], isLast: true, token: nil)
  }
}

/// Where the next page of an answer begins: the last row of this one, and how many are still wanted.
struct ODataToken: Sendable, Equatable {
  var position: String
  var top: Int?
  /// By what the rows are sorted, as literals.
  var values: [String] = []
  /// From where later changes can be asked for, once the last page was read.
  var mark: String?
}

extension ODataToken {
  /// As `$skiptoken` has it: who changes the query cannot use it.
  func text(_ query: String) -> String {
    let parts =
      [Self.hash(query.utf8), top.map { String($0) } ?? "", position, mark ?? ""] + values
    let bytes = parts.map { $0.utf8.count }.map { String($0) }.joined(separator: ",")
    return Self.encode(Array((bytes + ";" + parts.joined()).utf8))
  }

  init?(_ text: String, query: String) {
    guard let bytes = Self.decode(text), let semicolon = bytes.firstIndex(of: 0x3B) else {
      return nil
    }
    let counts = String(decoding: bytes[..<semicolon], as: UTF8.self).split(separator: ",")
      .map { Int($0) ?? -1 }
    var rest = bytes[(semicolon + 1)...]
    var parts: [String] = []
    for count in counts {
      guard count >= 0, count <= rest.count,
        let part = String(validating: rest.prefix(count), as: UTF8.self)
      else { return nil }
      parts.append(part)
      rest = rest.dropFirst(count)
    }
    guard rest.isEmpty, parts.count >= 4, parts[0] == Self.hash(query.utf8) else { return nil }
    if !parts[1].isEmpty {
      guard let number = Int(parts[1]), number >= 0 else { return nil }
      top = number
    }
    position = parts[2]
    mark = parts[3].isEmpty ? nil : parts[3]
    values = Array(parts.dropFirst(4))
  }

  /// 64 bits of FNV-1a: it finds mistakes, and protects nothing.
  static func hash(_ bytes: some Sequence<UInt8>) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return String(hash, radix: 36)
  }

  private static let letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    var held = 0
    var bits = 0
    for byte in bytes {
      held = held << 8 | Int(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(letters[held >> bits & 63])
      }
      held &= (1 << bits) - 1
    }
    if bits > 0 { text.append(letters[held << (6 - bits) & 63]) }
    return String(decoding: text, as: UTF8.self)
  }

  private static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var held = 0
    var bits = 0
    for letter in text.utf8 {
      guard let value = letters.firstIndex(of: letter) else { return nil }
      held = held << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(held >> bits & 255))
      }
      held &= (1 << bits) - 1
    }
    return held == 0 ? bytes : nil
  }
}
