extension UnsafeBufferPointer<UInt8> {
  /// Whether these are the bytes of a text, byte for byte.
  @inline(__always)
  func holds(_ text: String) -> Bool {
    text.utf8.withContiguousStorageIfAvailable { isSame($0) } ?? text.utf8.elementsEqual(self)
  }

  @inline(__always)
  private func isSame(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
    guard other.count == count else { return false }
    var place = 0
    while place < count, self[place] == other[place] { place += 1 }
    return place == count
  }
}
