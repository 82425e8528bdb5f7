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

  /// Why an attribute, a relationship or the way back of one cannot have this name; nil when it can.
  public static func clashOfMember(_ name: String) -> String? {
    clash(name, members, "a member that every generated type has")
  }

  /// Why an attribute with `fullText` cannot have this name, in capitals or not; nil when it can.
  public static func clashOfSearched(_ name: String) -> String? {
    ["rank", "rowid"].contains(name.lowercased())
      ? "a column that SQLite's full-text index has" : nil
  }

  /// Why a named query cannot have this name; nil when it can.
  public static func clashOfQuery(_ name: String) -> String? {
    clash(name, typeMembers, "a member that every generated type has")
  }

  /// Why a parameter of a named query cannot have this name; nil when it can.
  static func clashOfQueryParameter(_ name: String) -> String? {
    clash(name, queryParameters, "a parameter that every query has")
  }

  /// Why a part of a complex type cannot have this name; nil when it can.
  static func clashOfPart(_ name: String) -> String? {
    clash(name, partMembers, "a member that every complex type has")
  }

  /// Why a synchronization parameter or a personalization key cannot have this name.
  static func clashOfParameter(_ name: String) -> String? {
    clash(name, ["parameterSet", "hashValue"], "a member that every set of parameters has")
  }

  /// Why a value of a list cannot have this name.
  static func clashOfListed(_ name: String) -> String? {
    clash(name, listedMembers, "a member that every type of listed values has")
  }

  private static func clash(_ name: String, _ taken: Set<String>, _ reason: String) -> String? {
    if keywords.contains(name) { return "a keyword of Swift" }
    return taken.contains(name) ? reason : nil
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

  /// What an object of a generated type has, from `BusinessObject` and from the generator: the
  /// rest is free, also `id`, `description`, `hash`, `count` or `database`.
  /// `GeneratorTests/ReservedNameTests` holds this list against the sources.
  public static let members: Set<String> = [
    "cancelPending", "copyAll", "create", "createLogRecord", "debugDescription", "delete",
    "downloadState", "hashValue", "isCreated", "isDeleted", "isDirty", "isNew", "isPending",
    "isUpdated", "live", "logRecords", "originalState", "pendingChange", "record",
    "refresh", "replayCounter", "replayFailed", "replayFailure", "replayOutcome", "replayPending",
    "save", "submitPending", "surrogateKey", "update",
    // The type of the names, and the module by whose name generated code speaks of Ferry's types.
    "Attributes", "Ferry",
  ]

  /// What a generated type itself has, beside its objects.
  public static let typeMembers: Set<String> = [
    "Attributes", "cancelPendingOperations", "changes", "count", "entity", "find", "findAll",
    "findFirst", "first", "live", "liveCount", "load", "matches", "pendingCount",
    "pendingObjects", "query", "submitPendingOperations", "submittedCount", "submittedObjects",
  ]

  private static let queryParameters: Set<String> = ["Ferry", "database", "paths", "skip", "take"]

  private static let listedMembers: Set<String> = [
    "Ferry", "allCases", "attributeDefault", "converted", "description", "hash", "hashValue",
    "isStructured",
    "rawValue", "value",
  ]

  private static let partMembers: Set<String> = ["Ferry", "hashValue", "parts", "value"]
}
