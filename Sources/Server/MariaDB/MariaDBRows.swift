import CMariaDB

/// The rows of an answer, all of them in memory.
package struct MariaDBRows: Sendable {
  /// By row and column, in their text form; nil for null.
  package let texts: [[String?]]
  /// How many rows the statement found to change, whether they had other values or not.
  package let affected: Int

  package var count: Int { texts.count }

  /// The first value of the first row; nil where there is no row, or null.
  package var first: String? { texts.first?.first ?? nil }
}

/// A row as it comes, for as long as it is the last one.
struct RowReader {
  let result: UnsafeMutablePointer<MYSQL_RES>

  /// Nil behind the last row, or where the line broke.
  func next() -> [String?]? {
    guard let row = mysql_fetch_row(result), let lengths = mysql_fetch_lengths(result) else {
      return nil
    }
    return (0..<Int(mysql_num_fields(result))).map { column in
      row[column].map { start in
        String(
          decoding: UnsafeRawBufferPointer(start: start, count: Int(clamping: lengths[column])),
          as: UTF8.self)
      }
    }
  }
}

/// A name as SQL takes it, whatever is in it.
package func quotedName(_ name: String) -> String { quoted(name, by: 0x60) }

/// A text as SQL takes it, in whatever mode the server is: one with a backslash is written in digits.
package func quotedText(_ text: String) -> String {
  text.utf8.contains(0x5C)
    ? "_utf8mb4 " + quotedBytes(Array(text.utf8)) : quoted(text, by: 0x27)
}

/// In bytes: before a combining mark a quote is no `Character`.
private func quoted(_ text: String, by quote: UInt8) -> String {
  var bytes = [quote]
  for byte in text.utf8 {
    if byte == quote { bytes.append(quote) }
    bytes.append(byte)
  }
  bytes.append(quote)
  return String(decoding: bytes, as: UTF8.self)
}

/// Bytes as SQL takes them.
package func quotedBytes(_ bytes: [UInt8]) -> String {
  let digits = Array("0123456789ABCDEF".utf8)
  let size = bytes.count.multipliedReportingOverflow(by: 2).partialValue
  return String(unsafeUninitializedCapacity: size + 3) { target in
    target[0] = UInt8(ascii: "x")
    target[1] = UInt8(ascii: "'")
    var place = 2
    for byte in bytes {
      target[place] = digits[Int(byte >> 4)]
      target[place + 1] = digits[Int(byte & 15)]
      place += 2
    }
    target[place] = UInt8(ascii: "'")
    return place + 1
  }
}
