extension String {
  /// The text of bytes; nil where they are no well-formed UTF-8.
  ///
  /// ASCII, which most values are, is told eight bytes at a time and taken as it is: the check of
  /// the standard library is generic, and asks for its types at each call.
  public init?(checking bytes: UnsafeBufferPointer<UInt8>) {
    guard UnsafeRawBufferPointer(bytes).isASCII else {
      self.init(validating: bytes, as: UTF8.self)
      return
    }
    self.init(ascii: bytes)
  }

  /// The text of bytes that are known to be ASCII: written where the string keeps it.
  public init(ascii bytes: UnsafeBufferPointer<UInt8>) {
    self.init(unsafeUninitializedCapacity: bytes.count) { $0.initialize(fromContentsOf: bytes) }
  }
}

extension UnsafeRawBufferPointer {
  fileprivate var isASCII: Bool {
    var high: UInt64 = 0
    var place = 0
    while place + 8 <= count {
      high |= loadUnaligned(fromByteOffset: place, as: UInt64.self)
      place += 8
    }
    while place < count {
      high |= UInt64(self[place])
      place += 1
    }
    return high & 0x8080_8080_8080_8080 == 0
  }
}
