/// The name and type of a value in a vault.
public struct DataVaultName: Sendable, Hashable {
  /// What a value was stored as.
  public enum DataType: UInt8, Sendable, Hashable, CaseIterable {
    /// Stored by another version; try it as a string first, then as bytes.
    case unknown = 0
    case string = 1
    case binary = 2
    /// A certificate, as the bytes of its DER form.
    case certificate = 3
  }

  public let name: String
  public let type: DataType

  public init(name: String, type: DataType) {
    self.name = name
    self.type = type
  }
}

/// All of these throw `.locked` on a locked vault and `.doesNotExist` when it was deleted meanwhile.
extension DataVault {
  /// The names of all values with their types, in the order in which they were set first.
  public func getDataNames() throws(DataVaultError) -> [DataVaultName] {
    try contents().values().map { DataVaultName(name: $0.name, type: $0.type) }
  }

  /// Stores a text under a name and replaces an older value with this name, of any type.
  ///
  /// Errors: `.invalidArgument` for an empty name, `.nameTooLong` above 255 bytes, `.valueTooLarge`
  /// above 1 MB, or if the vault would have more than 10,000 values or 16 MB.
  public func setString(_ name: String, value: String) throws(DataVaultError) {
    try set(name, .string, Array(value.utf8))
  }

  /// The text with this name; nil when there is none. `.dataType` when it was stored as bytes.
  public func getString(_ name: String) throws(DataVaultError) -> String? {
    guard let value = try value(name) else { return nil }
    switch value.type {
    case .string: return String(decoding: value.bytes, as: UTF8.self)
    case .unknown: return String(validating: value.bytes, as: UTF8.self)
    case .binary, .certificate: throw wrongType(value, "a string")
    }
  }

  /// Stores bytes under a name, with the limits of `setString`.
  public func setValue(_ name: String, value: [UInt8]) throws(DataVaultError) {
    try set(name, .binary, value)
  }

  /// Stores bytes unless there is a value with this name, in one step; returns what is there
  /// afterwards. `.dataType` when that is a string or a certificate.
  func addValue(_ name: String, value: [UInt8]) throws(DataVaultError) -> [UInt8] {
    try check(name, value)
    let known = try change { (contents) throws(DataVaultError) -> VaultValue in
      if let known = try contents.values().first(where: { $0.name == name }) { return known }
      let added = VaultValue(name: name, type: .binary, bytes: value)
      try contents.set(added)
      return added
    }
    guard known.type == .binary || known.type == .unknown else { throw wrongType(known, "bytes") }
    return known.bytes
  }

  /// The bytes with this name; nil when there are none. `.dataType` when it was stored as a string
  /// or a certificate.
  public func getValue(_ name: String) throws(DataVaultError) -> [UInt8]? {
    guard let value = try value(name) else { return nil }
    guard value.type == .binary || value.type == .unknown else {
      throw wrongType(value, "bytes")
    }
    return value.bytes
  }

  /// Stores a certificate in its DER form under a label, with the limits of `setString`.
  public func setCertificate(_ name: String, der: [UInt8]) throws(DataVaultError) {
    try set(name, .certificate, der)
  }

  /// The DER form of the certificate with this label; nil when there is none. `.dataType` when the
  /// value is not a certificate.
  public func getCertificate(_ name: String) throws(DataVaultError) -> [UInt8]? {
    guard let value = try value(name) else { return nil }
    guard value.type == .certificate else { throw wrongType(value, "a certificate") }
    return value.bytes
  }

  /// Removes a value of any type; false when there was none with this name.
  @discardableResult
  public func deleteValue(_ name: String) throws(DataVaultError) -> Bool {
    try change { (contents) throws(DataVaultError) in try contents.delete(name) }
  }

  private func set(
    _ name: String, _ type: DataVaultName.DataType, _ bytes: [UInt8]
  ) throws(DataVaultError) {
    try check(name, bytes)
    try change { (contents) throws(DataVaultError) in
      try contents.set(VaultValue(name: name, type: type, bytes: bytes))
    }
  }

  private func check(_ name: String, _ bytes: [UInt8]) throws(DataVaultError) {
    try DataVaults.checkName(name, of: "a value")
    guard bytes.count <= Limits.valueBytes else {
      throw DataVaultError(
        .valueTooLarge,
        "the value \(name) for vault \(self.name) has \(bytes.count) bytes; at most "
          + "\(Limits.valueBytes) are allowed")
    }
  }

  private func value(_ name: String) throws(DataVaultError) -> VaultValue? {
    try contents().values().first { $0.name == name }
  }

  private func wrongType(_ value: VaultValue, _ asked: String) -> DataVaultError {
    DataVaultError(
      .dataType, "the value \(value.name) of vault \(name) is \(value.type), not \(asked)")
  }
}
