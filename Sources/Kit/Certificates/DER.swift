/// One value of DER with its content; reads no value whose length is not written in the shortest way.
struct DERValue {
  let tag: UInt8
  let content: ArraySlice<UInt8>
  /// With tag and length.
  let whole: ArraySlice<UInt8>
}

/// Reads values one behind the other, without going beyond the given bytes.
struct DERReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }
  var nextTag: UInt8? { rest.first }

  mutating func next(_ tag: UInt8? = nil) throws(CertificateError) -> DERValue {
    let start = rest.startIndex
    guard rest.count >= 2 else { throw CertificateError(.damaged, "the bytes end too early") }
    let own = rest[start]
    guard own & 0x1F != 0x1F, tag == nil || own == tag else {
      throw CertificateError(.damaged, "a value of the bytes does not have the expected type")
    }
    let first = rest[start + 1]
    var place = start + 2
    var length = Int(first)
    if first >= 0x80 {
      let count = Int(first & 0x7F)
      guard (1...4).contains(count), rest.count >= 2 + count, rest[place] != 0 else {
        throw CertificateError(.damaged, "a length in the bytes is wrong")
      }
      length = rest[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
      place += count
      guard length >= 0x80 else {
        throw CertificateError(.damaged, "a length in the bytes is not in its shortest form")
      }
    }
    guard rest.endIndex - place >= length else {
      throw CertificateError(.damaged, "the bytes end too early")
    }
    let end = place + length
    let value = DERValue(tag: own, content: rest[place..<end], whole: rest[start..<end])
    rest = rest[end...]
    return value
  }
}

enum DER {
  static func length(_ count: Int) -> [UInt8] {
    if count < 0x80 { return [UInt8(count)] }
    var bytes: [UInt8] = []
    var rest = count
    while rest > 0 {
      bytes.insert(UInt8(rest & 0xFF), at: 0)
      rest >>= 8
    }
    return [0x80 | UInt8(bytes.count)] + bytes
  }

  static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    [tag] + length(content.count) + content
  }

  /// The numbers of an object identifier with points between; nil when it is none.
  static func identifier(_ bytes: ArraySlice<UInt8>) -> String? {
    guard let last = bytes.last, last & 0x80 == 0 else { return nil }
    var numbers: [Int] = []
    var number = 0
    for byte in bytes {
      guard number < 1 << 40 else { return nil }
      number = number << 7 | Int(byte & 0x7F)
      guard byte & 0x80 == 0 else { continue }
      if numbers.isEmpty {
        let first = min(number / 40, 2)
        numbers = [first, number - 40 * first]
      } else {
        numbers.append(number)
      }
      number = 0
    }
    return numbers.map { String($0) }.joined(separator: ".")
  }
}
