/// Bytes from the system's own source of chance, fit for keys.
public func randomBytes(_ count: Int) -> [UInt8] {
  var generator = SystemRandomNumberGenerator()
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count)
  while bytes.count < count {
    withUnsafeBytes(of: generator.next()) {
      bytes.append(contentsOf: $0.prefix(count - bytes.count))
    }
  }
  return bytes
}
