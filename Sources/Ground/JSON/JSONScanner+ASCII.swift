extension JSONScanner {
  /// Whether a stretch of the text has letters of ASCII only, so that it is UTF-8 without a look.
  public func isASCII(_ range: Range<Int>) -> Bool {
    var index = range.lowerBound
    let raw = UnsafeRawBufferPointer(bytes)
    while index + 8 <= range.upperBound {
      let word = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      guard word & 0x8080_8080_8080_8080 == 0 else { return false }
      index += 8
    }
    while index < range.upperBound {
      guard bytes[index] < 0x80 else { return false }
      index += 1
    }
    return true
  }
}
