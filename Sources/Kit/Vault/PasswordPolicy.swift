import FerryWorld

/// The rules for a vault's password. All are off by default.
///
/// A vault without a policy checks nothing. The policy is checked when the vault is unlocked and
/// when its password is changed: only then is the password known.
public struct PasswordPolicy: Sendable, Hashable {
  /// Whether nil may be given as the password. The rules about length and characters do not apply
  /// to nil.
  public var defaultPasswordAllowed = false
  /// The minimum number of characters as people count them; 0 is no minimum.
  public var minLength = 0
  /// Whether the password must have a digit.
  public var hasDigits = false
  /// Whether the password must have an upper-case letter.
  public var hasUpper = false
  /// Whether the password must have a lower-case letter.
  public var hasLower = false
  /// Whether the password must have one of `specialCharacters`.
  public var hasSpecial = false
  /// For how many days a password is valid, the day on which it was set included; days are those of
  /// UTC. 0 is for ever. Checked at unlock only.
  public var expirationDays = 0
  /// The minimum number of different characters; 0 is no minimum.
  public var minUniqueChars = 0
  /// The time after which the vault locks itself, from the unlock or the last `resetLockTimeout`;
  /// zero is never. It overrides `DataVault.setLockTimeout`.
  public var lockTimeout: Duration = .zero
  /// How many wrong passwords in a row are allowed; one more deletes the vault. 0 is no limit. It
  /// overrides `DataVault.setRetryLimit`.
  public var retryLimit = 0

  /// The characters of which `hasSpecial` requires one.
  public static let specialCharacters = "~!@#$%^&*()-+"

  public init() {}

  /// The first rule that the password fails, in the order of the numbers; `nil` stands for the
  /// default password, whose text is `defaultText`.
  func violation(of password: String?, defaultText: String) -> PasswordViolation? {
    if password == nil && !defaultPasswordAllowed { return .required }
    let text = password ?? defaultText
    if password != nil {
      if text.count < minLength { return .underMinimumLength }
      if hasDigits && !text.contains(where: \.isWholeNumber) { return .requiresDigit }
      if hasUpper && !text.contains(where: \.isUppercase) { return .requiresUpper }
      if hasLower && !text.contains(where: \.isLowercase) { return .requiresLower }
      let special = PasswordPolicy.specialCharacters
      if hasSpecial && !text.contains(where: { special.contains($0) }) { return .requiresSpecial }
    }
    return Set(text).count < minUniqueChars ? .underMinimumUnique : nil
  }

  /// Whether a password that was set at `set` is over at `now`.
  func isExpired(set: Timestamp, now: Timestamp) -> Bool {
    expirationDays > 0 && now.day - set.day >= Int64(expirationDays)
  }

  /// The name of the first number that is negative or above the limit.
  var wrongNumber: String? {
    let numbers = [
      ("minLength", minLength), ("expirationDays", expirationDays),
      ("minUniqueChars", minUniqueChars), ("retryLimit", retryLimit),
    ]
    for (name, number) in numbers where !(0...Limits.numberLimit).contains(number) { return name }
    return Limits.isTimeout(lockTimeout) ? nil : "lockTimeout"
  }
}

/// The rule that a password breaks; the raw value is the number of the reference.
public enum PasswordViolation: Int, Sendable, Hashable, CaseIterable {
  /// The default password is not allowed.
  case required = 50
  /// Fewer characters than `minLength`.
  case underMinimumLength = 51
  /// No digit.
  case requiresDigit = 52
  /// No upper-case letter.
  case requiresUpper = 53
  /// No lower-case letter.
  case requiresLower = 54
  /// None of the special characters.
  case requiresSpecial = 55
  /// Fewer different characters than `minUniqueChars`.
  case underMinimumUnique = 56
  /// Older than `expirationDays` allows.
  case expired = 57

  /// The name in the reference.
  public var name: String {
    switch self {
    case .required: "PASSWORD_REQUIRED"
    case .underMinimumLength: "PASSWORD_UNDER_MIN_LENGTH"
    case .requiresDigit: "PASSWORD_REQUIRES_DIGIT"
    case .requiresUpper: "PASSWORD_REQUIRES_UPPER"
    case .requiresLower: "PASSWORD_REQUIRES_LOWER"
    case .requiresSpecial: "PASSWORD_REQUIRES_SPECIAL"
    case .underMinimumUnique: "PASSWORD_UNDER_MIN_UNIQUE"
    case .expired: "PASSWORD_EXPIRED"
    }
  }

  /// What is wrong with the password, as a sentence.
  public var sentence: String {
    switch self {
    case .required: "the default password is not allowed"
    case .underMinimumLength: "the password is too short"
    case .requiresDigit: "the password has no digit"
    case .requiresUpper: "the password has no upper-case letter"
    case .requiresLower: "the password has no lower-case letter"
    case .requiresSpecial:
      "the password has none of the characters \(PasswordPolicy.specialCharacters)"
    case .underMinimumUnique: "the password has too few different characters"
    case .expired: "the password is too old"
    }
  }
}
