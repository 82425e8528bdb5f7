import FerryModel

/// Makes the Swift source of a package's parameters; nothing where it has none.
struct ParameterRenderer {
  private let synchronization: [Parameter]
  private let keys: [Parameter]

  init(_ package: Package) {
    synchronization = package.parameters.filter { $0.kind == .synchronization }
    keys = package.parameters.filter { $0.kind != .synchronization }
  }

  /// The last argument of the package's literal.
  var argument: String {
    let lines = (synchronization + keys).map { parameter in
      "      FerryModel.Parameter(name: \(SwiftLiteral.text(parameter.name)), type: "
        + ".\(parameter.type.rawValue), kind: .\(parameter.kind.rawValue), defaultValue: "
        + value(parameter.defaultValue)
        + (parameter.from.map { ", from: \(SwiftLiteral.text($0))" } ?? "") + "),"
    }
    guard !lines.isEmpty else { return "" }
    return ",\n    parameters: [\n\(lines.joined(separator: "\n"))\n    ]"
  }

  private func value(_ value: AttributeValue) -> String {
    switch value {
    case .null: ".null"
    case .boolean(let flag): ".boolean(\(flag))"
    case .integer(let number): ".integer(\(number))"
    case .double(let number): ".double(\(number))"
    case .text(let text): ".text(\(SwiftLiteral.text(text)))"
    case .bytes(let bytes): ".bytes(\(bytes))"
    }
  }

  /// Members of the package's type.
  var members: String {
    (synchronization.isEmpty ? "" : "\n\n" + parameterSet) + (keys.isEmpty ? "" : "\n\n" + keyNames)
  }

  private var parameterSet: String {
    let properties = synchronization.map {
      "    public var \($0.name): \(SwiftLiteral.type($0.type))?"
    }
    let arguments = synchronization.map { "\($0.name): \(SwiftLiteral.type($0.type))? = nil" }
    let assignments = synchronization.map { "      self.\($0.name) = \($0.name)" }
    let readings = synchronization.map {
      "      self.\($0.name) = set.value(of: \(SwiftLiteral.text($0.name)))"
    }
    let pairs = synchronization.map { "\(SwiftLiteral.text($0.name)): \($0.name)" }
    return """
        /// Which rows a device asks for: `database.save(…)` makes each set a subscription. What is nil
        /// has its default.
        public nonisolated struct SynchronizationParameters: Ferry.SynchronizationParameters, Hashable {
      \(properties.joined(separator: "\n"))

          public init(\(arguments.joined(separator: ", "))) {
      \(assignments.joined(separator: "\n"))
          }

          /// A set that was saved, as `database.savedParameters(as:)` gives it.
          public init(_ set: Ferry.ParameterSet) {
      \(readings.joined(separator: "\n"))
          }

          public var parameterSet: Ferry.ParameterSet {
            Ferry.ParameterSet([\(pairs.joined(separator: ", "))])
          }
        }
      """
  }

  private var keyNames: String {
    let names = keys.map {
      """
          /// Kept by \(ParameterRenderer.keeper($0.kind)).
          public static let \($0.name) = Ferry.PersonalizationKey<\(SwiftLiteral.type($0.type))?>(\(
            SwiftLiteral.text($0.name)))
      """
    }
    return """
        /// The personalization keys, for `database.value(of:)` and `database.set(_:to:)`.
        public nonisolated enum PersonalizationKeys {
      \(names.joined(separator: "\n"))
        }
      """
  }

  private static func keeper(_ kind: ParameterKind) -> String {
    switch kind {
    case .server: "the server, for all devices of the user"
    case .session: "the app, until it ends"
    case .client, .synchronization: "the device"
    }
  }
}
