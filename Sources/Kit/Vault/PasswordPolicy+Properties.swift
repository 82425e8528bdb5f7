extension PasswordPolicy {
  /// The names of the server's properties, in the order of the policy's fields. A property that the
  /// server does not send is off, or 0.
  public enum Property: String, Sendable, CaseIterable {
    case enabled = "MCL_PROP_ID_PWDPOLICY_ENABLED"
    case defaultPasswordAllowed = "MCL_PROP_ID_PWDPOLICY_DEFAULT_PASSWORD_ALLOWED"
    case minLength = "MCL_PROP_ID_PWDPOLICY_MIN_LENGTH"
    case hasDigits = "MCL_PROP_ID_PWDPOLICY_HAS_DIGITS"
    case hasUpper = "MCL_PROP_ID_PWDPOLICY_HAS_UPPER"
    case hasLower = "MCL_PROP_ID_PWDPOLICY_HAS_LOWER"
    case hasSpecial = "MCL_PROP_ID_PWDPOLICY_HAS_SPECIAL"
    case expirationDays = "MCL_PROP_ID_PWDPOLICY_EXPIRATION_DAYS"
    case minUniqueChars = "MCL_PROP_ID_PWDPOLICY_MIN_UNIQUE_CHARS"
    case lockTimeout = "MCL_PROP_ID_PWDPOLICY_LOCK_TIMEOUT"
    case retryLimit = "MCL_PROP_ID_PWDPOLICY_RETRY_LIMIT"
  }

  /// The policy that a server's properties describe; nil when they do not enable one.
  ///
  /// Other properties are ignored. `.invalidArgument` for a value that is neither a Boolean
  /// (`true`, `false`, `1`, `0`) nor a whole number from 0; then no part of the policy is used.
  public static func policy(
    properties: [String: String]
  ) throws(DataVaultError) -> PasswordPolicy? {
    func flag(_ property: Property) throws(DataVaultError) -> Bool {
      guard let text = properties[property.rawValue] else { return false }
      switch text.lowercased() {
      case "true", "1": return true
      case "false", "0": return false
      default: throw wrong(property, "is neither true nor false")
      }
    }
    func number(_ property: Property) throws(DataVaultError) -> Int {
      guard let text = properties[property.rawValue] else { return 0 }
      guard let number = Int(text), (0...Limits.numberLimit).contains(number) else {
        throw wrong(property, "is not a whole number from 0 to \(Limits.numberLimit)")
      }
      return number
    }
    func wrong(_ property: Property, _ what: String) -> DataVaultError {
      DataVaultError(.invalidArgument, "the property \(property.rawValue) \(what)")
    }
    var policy = PasswordPolicy()
    policy.defaultPasswordAllowed = try flag(.defaultPasswordAllowed)
    policy.minLength = try number(.minLength)
    policy.hasDigits = try flag(.hasDigits)
    policy.hasUpper = try flag(.hasUpper)
    policy.hasLower = try flag(.hasLower)
    policy.hasSpecial = try flag(.hasSpecial)
    policy.expirationDays = try number(.expirationDays)
    policy.minUniqueChars = try number(.minUniqueChars)
    policy.lockTimeout = .seconds(try number(.lockTimeout))
    policy.retryLimit = try number(.retryLimit)
    return try flag(.enabled) ? policy : nil
  }
}
