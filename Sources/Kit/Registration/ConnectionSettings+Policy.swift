public import FerryVault

extension ConnectionSettings {
  /// The password policy that the administrator gave, for `DataVault.setPasswordPolicy`.
  ///
  /// An app that can follow one says so first: `update(["CapabilitiesPasswordPolicy": true])`. Throws
  /// `passwordPolicyNotEnabled` before that, and where the administrator has enabled none.
  public func passwordPolicy() throws(RegistrationError) -> PasswordPolicy {
    guard values["PasswordPolicyEnabled"] == .boolean(true) else {
      throw RegistrationError(
        .passwordPolicyNotEnabled, "the settings of the connection have no password policy")
    }
    func flag(_ name: String) -> Bool { values["PasswordPolicy\(name)"] == .boolean(true) }
    func number(_ name: String) throws(RegistrationError) -> Int {
      guard case .integer(let number)? = values["PasswordPolicy\(name)"] else { return 0 }
      guard (0...Int64(Int32.max)).contains(number) else {
        throw RegistrationError(
          .wrongValue, "PasswordPolicy\(name) is \(number), and not from 0 to \(Int32.max)")
      }
      return Int(number)
    }
    var policy = PasswordPolicy()
    policy.defaultPasswordAllowed = flag("DefaultPasswordAllowed")
    policy.minLength = try number("MinLength")
    policy.hasDigits = flag("DigitRequired")
    policy.hasUpper = flag("UpperRequired")
    policy.hasLower = flag("LowerRequired")
    policy.hasSpecial = flag("SpecialRequired")
    policy.expirationDays = try number("ExpiresInNDays")
    policy.minUniqueChars = try number("MinUniqueChars")
    policy.lockTimeout = .seconds(try number("LockTimeout"))
    policy.retryLimit = try number("RetryLimit")
    return policy
  }
}
