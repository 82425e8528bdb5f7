/// What a vault can hold. It is for small secrets: each change writes the whole file anew.
enum Limits {
  /// The reference's limit for names of vaults and of values.
  static let nameBytes = 255
  /// A key, a token or a chain of certificates is far below it.
  static let valueBytes = 1 << 20
  /// A change must stay quick.
  static let valuesBytes = 16 << 20
  static let valueCount = 10_000
  /// What is above is no vault of ours and is not read.
  static let fileBytes = 32 << 20
  /// Numbers of a policy; the reference has 32 bits.
  static let numberLimit = Int(Int32.max)

  static func isTimeout(_ duration: Duration) -> Bool {
    duration >= .zero && duration <= .seconds(numberLimit)
  }
}
