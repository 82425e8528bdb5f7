import FerryConnector
import FerryModel
import FerryPostgreSQL

/// Makes rows of the lines that COPY gives, and hands them on in batches.
struct TableLoad {
  private let table: EntityTable
  private var batch: [RowImage] = []

  /// The number of rows given to `each` at a time.
  static let batchRows: Int = 1_000

  init(_ table: EntityTable) { self.table = table }

  mutating func take(
    _ line: UnsafeRawBufferPointer, each: (LoadPage) throws(ConnectorError) -> Void,
    rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) {
    switch table.row(TableLoad.fields(line)) {
    case .rejected(let row): rejected(row)
    case .success(let values):
      batch.append(
        RowImage(
          entity: table.entity.name, key: table.entity.key(of: values), values: values))
    }
    guard batch.count == TableLoad.batchRows else { return }
    try each(LoadPage(entity: table.entity, rows: batch))
    batch.removeAll(keepingCapacity: true)
  }

  mutating func finish(
    each: (LoadPage) throws(ConnectorError) -> Void
  ) throws(ConnectorError) {
    guard !batch.isEmpty else { return }
    try each(LoadPage(entity: table.entity, rows: batch))
    batch = []
  }

  /// The fields of a line, parted by tabs; `\N` is null, other escapes stand for one byte.
  static func fields(_ line: UnsafeRawBufferPointer) -> [String?] {
    var fields: [String?] = []
    var start = 0
    var hasEscape = false
    let end = line.last == 0x0A ? line.count - 1 : line.count
    for index in 0...end {
      if index < end, line[index] != 0x09 {
        if line[index] == 0x5C { hasEscape = true }
        continue
      }
      fields.append(field(UnsafeRawBufferPointer(rebasing: line[start..<index]), hasEscape))
      start = index + 1
      hasEscape = false
    }
    return fields
  }

  private static func field(_ bytes: UnsafeRawBufferPointer, _ hasEscape: Bool) -> String? {
    guard hasEscape else { return String(decoding: bytes, as: UTF8.self) }
    if bytes.count == 2, bytes[1] == UInt8(ascii: "N") { return nil }
    var plain: [UInt8] = []
    plain.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      guard byte == 0x5C, index < bytes.count else {
        plain.append(byte)
        continue
      }
      plain.append(escapes[bytes[index]] ?? bytes[index])
      index += 1
    }
    return String(decoding: plain, as: UTF8.self)
  }

  private static let escapes: [UInt8: UInt8] = [
    UInt8(ascii: "b"): 8, UInt8(ascii: "t"): 9, UInt8(ascii: "n"): 10, UInt8(ascii: "v"): 11,
    UInt8(ascii: "f"): 12, UInt8(ascii: "r"): 13,
  ]
}
