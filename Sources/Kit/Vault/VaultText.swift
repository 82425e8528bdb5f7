import Foundation

extension String {
  /// The bytes of the text in Unicode's form C: a letter with an accent gives the same bytes
  /// whichever way it was typed.
  var canonicalBytes: [UInt8] { Array(precomposedStringWithCanonicalMapping.utf8) }
}
