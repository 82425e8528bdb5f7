import Foundation

extension String {
  /// The bytes of the text in Unicode's form C, so that equal texts have equal bytes.
  var canonicalBytes: [UInt8] { Array(precomposedStringWithCanonicalMapping.utf8) }
}

extension [UInt8] {
  /// A number, big endian.
  mutating func append(number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }
}

extension Collection<UInt8> {
  /// These bytes as a number, big endian.
  func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number {
    reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
  }
}
