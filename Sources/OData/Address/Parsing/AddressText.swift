import FerryOData
import FerryText

/// A piece of an address without its percent-encoding, and where each byte came from.
struct AddressText {
  var bytes: [UInt8] = []
  /// The place of each byte in the address, and of the end.
  var origins: [Int32] = []
  /// Whether a plus that stands for itself separates words.
  var plusIsBlank = false

  /// Whether the byte was written as `%XX`.
  func isEncoded(_ index: Int) -> Bool { origins[index + 1] - origins[index] == 3 }

  /// A text that is not percent-encoded.
  init(plain address: [UInt8]) {
    bytes = address
    origins = (0...address.count).map { Int32($0) }
  }

  /// Takes the percent-encoding off a part of an address. The result is well-formed UTF-8.
  ///
  /// Throws the place and the reason otherwise.
  init(
    decoding address: [UInt8], _ range: Range<Int>, isQuery: Bool, readsPlusAsBlank: Bool
  ) throws(Fault) {
    plusIsBlank = isQuery
    bytes.reserveCapacity(range.count)
    origins.reserveCapacity(range.count + 1)
    var index = range.lowerBound
    while index < range.upperBound {
      var byte = address[index]
      var length = 1
      if byte == UInt8(ascii: "%") {
        guard index + 2 < range.upperBound, let high = Hexadecimal.value(address[index + 1]),
          let low = Hexadecimal.value(address[index + 2])
        else {
          throw Fault(
            at: index, "% is not followed by two hexadecimal digits", "write % itself as %25")
        }
        byte = high << 4 | low
        length = 3
      } else if byte == UInt8(ascii: "+"), isQuery, readsPlusAsBlank {
        byte = 0x20
      } else if byte < 0x20 && byte != 0x09 || byte == 0x7F {
        throw Fault(
          at: index, "a control character is not percent-encoded", "percent-encode or remove it")
      }
      bytes.append(byte)
      origins.append(Int32(index))
      index += length
    }
    origins.append(Int32(range.upperBound))
    if let bad = UTF8Check.firstFault(in: bytes) {
      throw Fault(
        at: Int(origins[bad]), "these bytes are not well-formed UTF-8",
        "encode the text as UTF-8, in its shortest form, before percent-encoding it")
    }
  }

  /// Where a piece cannot be decoded, and why.
  struct Fault: Error {
    let place: Int
    let message: String
    let hint: String

    init(at place: Int, _ message: String, _ hint: String) {
      self.place = place
      self.message = message
      self.hint = hint
    }
  }
}

/// What is well-formed UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF.
enum UTF8Check {
  static func firstFault(in bytes: [UInt8]) -> Int? {
    var index = 0
    while index < bytes.count {
      let lead = bytes[index]
      if lead < 0x80 {
        index += 1
        continue
      }
      let (length, second): (Int, ClosedRange<UInt8>)
      switch lead {
      case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
      case 0xE0: (length, second) = (3, 0xA0...0xBF)
      case 0xE1...0xEC, 0xEE, 0xEF: (length, second) = (3, 0x80...0xBF)
      case 0xED: (length, second) = (3, 0x80...0x9F)
      case 0xF0: (length, second) = (4, 0x90...0xBF)
      case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
      case 0xF4: (length, second) = (4, 0x80...0x8F)
      default: return index
      }
      guard index + length <= bytes.count, second.contains(bytes[index + 1]),
        bytes[(index + 2)..<(index + length)].allSatisfy({ $0 & 0xC0 == 0x80 })
      else { return index }
      index += length
    }
    return nil
  }
}
