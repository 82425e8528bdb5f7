import FerryHTTP
import FerryOData
import FerryODataClient
import Foundation

/// What `ferry odata get` prints of an address: sets, objects, one property, a count or raw bytes.
struct ODataReading {
  let service: ODataService

  /// What an address below an object or a set names.
  private enum Target: Equatable {
    case entries
    case entry
    /// The steps of its object, and the names from there.
    case property(owner: Int, names: [String])
    /// A count, a value, or what the metadata does not describe.
    case raw
  }

  func show(_ address: TypedAddress) async throws {
    guard let steps = address.steps(behind: service.root) else {
      return try await objects(address.text, isOne: address.path.hasSuffix(")"))
    }
    switch try target(of: steps) {
    case nil: ODataServiceCommand.showSets(of: service)
    case .entries: try await objects(address.text, isOne: false)
    case .entry: try await objects(address.text, isOne: true)
    case .raw: try await raw(address.text, isCount: steps.last == "$count")
    case .property(let owner, let names):
      let object = address.address(of: steps.prefix(owner), behind: service.root)
      let entry = try await service.entry(object)
      guard let value = entry[path: names.joined(separator: "/")] else {
        throw CommandError(
          "\(object) has no value \(names.joined(separator: "/"))",
          hint: "Read the whole object to see what the service sends.")
      }
      var shown = ODataEntry(type: nil, [names[names.count - 1]: value])
      shown.context = nil
      try ODataServiceCommand.show(shown, service)
    }
  }

  private func objects(_ address: String, isOne: Bool) async throws(ODataClientError) {
    if isOne {
      try ODataServiceCommand.show(try await service.entry(address), service)
    } else {
      for try await entry in service.entries(address) {
        try ODataServiceCommand.show(entry, service)
      }
    }
  }

  /// Follows the steps through the metadata; nil for the root.
  private func target(of steps: [String]) throws -> Target? {
    guard let first = steps.first else { return nil }
    if steps.last?.hasPrefix("$") == true { return .raw }
    let isOne = first.hasSuffix(")")
    guard steps.count > 1 else { return isOne ? .entry : .entries }
    let name = ODataServiceCommand.decoded(first.prefix { $0 != "(" })
    guard let set = service.metadata.entitySet(name),
      var type = service.metadata.structuredType(set.entityType)
    else { return isOne ? .entry : .entries }
    var target: Target = isOne ? .entry : .entries
    for (place, step) in steps.enumerated().dropFirst() {
      let name = ODataServiceCommand.decoded(step.prefix { $0 != "(" })
      // Of another type, or an operation: the service knows what it gives.
      if name.contains(".") { return .raw }
      if let navigation = service.metadata.navigationProperty(name, of: type) {
        guard let next = navigation.type, let found = service.metadata.structuredType(next.name)
        else { return .raw }
        type = found
        target = next.isCollection && !step.hasSuffix(")") ? .entries : .entry
        continue
      }
      guard let property = service.metadata.property(name, of: type) else {
        if service.metadata.isOpen(type) { return .raw }
        let names =
          service.metadata.properties(of: type).map(\.name)
          + service.metadata.navigationProperties(of: type).map(\.name)
        throw CommandError(
          "\(type.name) has no property \(name)",
          hint: "It has: \(names.joined(separator: ", ")).")
      }
      if case .property(let owner, let names) = target {
        target = .property(owner: owner, names: names + [name])
      } else {
        target = .property(owner: place, names: [name])
      }
      if let complex = service.metadata.structuredType(property.type.name) { type = complex }
    }
    return target
  }

  private func raw(_ address: String, isCount: Bool) async throws {
    let accept = isCount ? "text/plain, */*;q=0.1" : "*/*"
    let answer = try await service.session.sendChecked(
      ODataRequest(address, headers: ["Accept": accept]))
    var body = answer.body
    // Some services begin even a number with a byte order mark.
    if isCount, body.starts(with: [0xEF, 0xBB, 0xBF]) { body.removeFirst(3) }
    guard !body.isEmpty else {
      return Terminal.error("\(address): the value is null or empty; the service sent no bytes.")
    }
    let isText = isCount || answer.headers["Content-Type"]?.hasPrefix("text/") == true
    if isText, body.last != 10 { body.append(10) }
    try FileHandle.standardOutput.write(contentsOf: Data(body))
  }
}

/// An error of a service, with a cure that can be typed at a terminal.
struct ODataTerminalError: ExplainedError, CustomStringConvertible {
  let message: String
  let hint: String

  /// `root` is the one that was guessed; nil where the user named it or it was found.
  init(_ error: ODataClientError, guessed root: String?) {
    message = "\(error.request): \(error.message)"
    var cure = Self.cure(error)
    if let root {
      cure +=
        " The service was looked for at \(root): end its address with a slash, or name its root "
        + "with --service."
    }
    hint = cure
  }

  private static func cure(_ error: ODataClientError) -> String {
    if case .http(let answer) = error.cause {
      switch answer.status {
      case 401: return "Log in with --user <name>; the password is asked for."
      case 403:
        return "Ask for the right to do this. If the service requires a token, add --csrf."
      default: break
      }
    }
    if case .document(let problem) = error.cause, problem.code == .strict {
      return "Correct the text there."
    }
    let hint = error.hint
    let sentence = hint.prefix(1).uppercased() + hint.dropFirst()
    return sentence.isEmpty || sentence.hasSuffix(".") ? sentence : sentence + "."
  }

  var description: String { "\(message). \(hint)" }
}
