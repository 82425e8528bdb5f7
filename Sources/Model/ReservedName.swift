/// Which names a model may use: they become Swift types and members, tables and columns of the
/// device, and words on the wire.
public enum ReservedName {
  /// A letter, then letters, digits and underscores; letters of any script.
  ///
  /// Names that begin with an underscore belong to the device's own columns.
  public static func isIdentifier(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, isLetter(first) else { return false }
    return name.unicodeScalars.dropFirst().allSatisfy(isLetterOrDigit)
  }

  static func isLetter(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isXIDStart }

  /// Whether an identifier may go on with it.
  public static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isXIDContinue && !scalar.properties.isDefaultIgnorableCodePoint
  }

  /// Why an entity, or the package, cannot have this name; nil when it can.
  public static func clashOfType(_ name: String) -> String? {
    let folded = name.lowercased()
    if keywords.contains(name) { return "a keyword of Swift" }
    if types.contains(name) { return "a type that generated code uses" }
    if folded.hasPrefix("sqlite_") || folded.hasPrefix("ferry_") {
      return "a name that the device keeps for its own tables"
    }
    return nil
  }

  /// Why an attribute or a relationship cannot have this name; nil when it can.
  public static func clashOfMember(_ name: String) -> String? {
    if keywords.contains(name) { return "a keyword of Swift" }
    if members.contains(name) { return "a member that every generated type has" }
    return nil
  }

  static let keywords: Set<String> = [
    "Any", "Protocol", "Self", "Type", "_", "as", "associatedtype", "await", "break", "case",
    "catch",
    "class", "continue", "default", "defer", "deinit", "do", "else", "enum", "extension",
    "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init",
    "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol",
    "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super",
    "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]

  /// Other types of Swift and Ferry are written with their module's name in generated code.
  static let types: Set<String> = [
    "AnyObject", "Array", "Attributes", "Bool", "Decimal", "Double", "Ferry", "Float", "Foundation",
    "Int",
    "Int16", "Int32", "Int64", "Int8", "Optional", "Sendable", "Set", "String", "Swift", "UInt8",
    "Void",
  ]

  static let members: Set<String> = [
    "copyAll", "countPendingObjects", "countReplayPendingObjects", "findByPrimaryKey",
    "getReplayPendingObjects", "replayFailure",
    "Attributes", "Self", "Type", "cancelPending", "cancelPendingOperations", "count", "create",
    "database",
    "delete", "description", "downloadState", "entity", "find", "findAll", "hash", "hashValue",
    "getPendingObjects", "id",
    "init", "isCreated", "isDeleted", "isDirty", "isNew", "isPending", "isUpdated", "load",
    "logRecords", "originalState", "pending", "pendingChange", "record", "refresh", "replayCounter",
    "replayFailed", "replayPending", "save", "self", "submitPending", "submitPendingOperations",
    "surrogateKey", "update",
  ]
}
