/// A text that is compared byte for byte, as databases compare it.
///
/// `String` compares by canonical equivalence: KELVIN SIGN equals "K", and "e" with a combining
/// diaeresis equals "ë". Two users or two partitions may differ in just that. What tells users,
/// devices and partitions apart is of this type, so that no dictionary takes one for the other.
package struct ExactText: Hashable, Comparable, Sendable {
  /// UTF-8.
  package let bytes: [UInt8]

  package init(_ text: String) { bytes = Array(text.utf8) }

  package var text: String { String(decoding: bytes, as: UTF8.self) }

  package static func < (left: ExactText, right: ExactText) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}

extension ExactText: CustomStringConvertible {
  package var description: String { text }
}
