import FerryModel

/// An option that a command knows.
package struct CommandOption: Sendable {
  /// Without the two dashes.
  package let name: String
  /// What stands for its value in the help; nil for an option without a value.
  package let value: String?
  package let text: String

  package init(_ name: String, _ value: String? = nil, _ text: String) {
    self.name = name
    self.value = value
    self.text = text
  }

  package static let json = CommandOption("json", nil, "answer in JSON, for programs")
}

/// A command line, read by what the command knows.
///
/// `--name value` and `--name=value` are the same; after `--` nothing is an option.
package struct Arguments: Sendable {
  package let operands: [String]
  private var found: [String: [String]]
  /// Where in a configuration file the last value of an option is.
  private var places: [String: String] = [:]

  package init(_ words: [String], options: [CommandOption]) throws(UsageError) {
    var operands: [String] = []
    var found: [String: [String]] = [:]
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        break
      }
      guard word.hasPrefix("--") else {
        if word.hasPrefix("-"), word.count > 1 {
          throw UsageError(
            "unknown option \(word)", hint: "Write options with two dashes and their full name.")
        }
        operands.append(word)
        continue
      }
      let parts = word.dropFirst(2).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard let option = options.first(where: { $0.name == name }) else {
        throw Arguments.unknown(name, options)
      }
      guard let value = option.value else {
        if parts.count > 1 {
          throw UsageError("--\(name) takes no value", hint: "Write only --\(name).")
        }
        found[name, default: []].append("")
        continue
      }
      if parts.count > 1 {
        found[name, default: []].append(String(parts[1]))
      } else if let next = rest.popFirst() {
        found[name, default: []].append(next)
      } else {
        throw UsageError("--\(name) needs a value", hint: "Write --\(name) \(value).")
      }
    }
    self.operands = operands
    self.found = found
  }

  /// What a configuration file says of options that the command line does not have.
  package mutating func add(
    _ file: ConfigurationFile, options: [CommandOption]
  ) throws(UsageError) {
    let given = Set(found.keys)
    for entry in file.entries {
      let place = "\(file.path):\(entry.line)"
      guard let option = options.first(where: { $0.name == entry.name }) else {
        throw UsageError(
          "\(place): unknown setting \(entry.name.prefix(80))",
          hint: NearestWord.cure(entry.name, among: options.map(\.name)))
      }
      guard !given.contains(option.name) else { continue }
      let value: String
      if let form = option.value {
        guard let text = entry.value, !text.isEmpty else {
          throw UsageError(
            "\(place): \(option.name) needs a value", hint: "Write \(option.name) = \(form).")
        }
        value = text
      } else {
        guard [nil, "yes", "no"].contains(entry.value) else {
          throw UsageError(
            "\(place): \(option.name) takes no value",
            hint: "Write only \(option.name), or \(option.name) = no.")
        }
        guard entry.value != "no" else { continue }
        value = ""
      }
      found[option.name, default: []].append(value)
      places[option.name] = place
    }
  }

  private static func unknown(_ name: String, _ options: [CommandOption]) -> UsageError {
    var names = options.map { "--\($0.name)" }
    if !names.contains("--help") { names.append("--help") }
    let hint = NearestWord.cure("--\(name)", among: names)
    return UsageError("unknown option --\(name)", hint: hint)
  }

  package func flag(_ name: String) -> Bool { found[name] != nil }

  /// All values of an option that may be given again and again.
  package func values(_ name: String) -> [String] { found[name] ?? [] }

  /// The value of an option that may be given once.
  package func value(_ name: String) throws(UsageError) -> String? {
    let values = values(name)
    guard values.count <= 1 else {
      let place = places[name].map { "\($0): \(name)" } ?? "--\(name)"
      throw UsageError("\(place) is given twice", hint: "Give it once.")
    }
    return values.first
  }

  /// The port that an option names, 0 where the system chooses; nil where the option is missing.
  package func port(_ name: String) throws(UsageError) -> Int? {
    guard let text = try value(name) else { return nil }
    guard let port = Int(text), (0...65_535).contains(port) else {
      throw UsageError(
        "--\(name) \(text) is not a port number", hint: "Write a number from 0 to 65535.")
    }
    return port
  }

  /// The value of an option that must be there; `example` is for the cure.
  package func required(_ name: String, _ example: String) throws(UsageError) -> String {
    guard let value = try value(name) else {
      throw UsageError("--\(name) is missing", hint: "For example: --\(name) \(example).")
    }
    return value
  }

  /// The operands, exactly as many as there are names for them.
  package func operands(_ names: String...) throws(UsageError) -> [String] {
    if operands.count > names.count {
      throw UsageError(
        "unexpected \"\(operands[names.count])\"",
        hint: names.isEmpty
          ? "This command takes options and no other words."
          : "This command takes \(names.joined(separator: ", ")) and options.")
    }
    if operands.count < names.count {
      throw UsageError("<\(names[operands.count])> is missing", hint: "Write it after the command.")
    }
    return operands
  }
}
