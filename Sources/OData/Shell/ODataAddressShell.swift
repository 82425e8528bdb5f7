import FerryOData
import FerryODataAddress

/// What `ferry odata address` does, without touching a file itself.
package enum ODataAddressShell {
  package static let usage = """
    usage: ferry odata address <uri or -> [--json] [--metadata <file>] [--service <root>] \
    [--version 2|3|4]
    """

  /// Runs the command behind the word `address`; `load` gives the bytes of a file, or of the input
  /// for `-`.
  package static func run(
    _ arguments: [String], load: (String) throws -> [UInt8]
  ) -> ODataShell.Outcome {
    var uri: String?
    var isJSON = false
    var metadataFile: String?
    var service: String?
    var version: ODataVersion?
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--json": isJSON = true
      case "--metadata", "--service":
        guard let value = rest.popFirst() else { return misuse("\(argument) needs a value") }
        if argument == "--metadata" { metadataFile = value } else { service = value }
      case "--version":
        guard
          let found = rest.popFirst().flatMap({ Int($0) }).flatMap({ ODataVersion(rawValue: $0) }),
          found != .v1
        else { return misuse("--version needs 2, 3 or 4") }
        version = found
      default:
        if argument.hasPrefix("--") || uri != nil { return misuse("\(argument) was not expected") }
        uri = argument
      }
    }
    guard var uri else { return misuse("an address or - was expected") }
    func bytes(_ path: String) throws(Complaint) -> [UInt8] {
      do { return try load(path) } catch { throw Complaint(text: ODataShell.unreadable(path)) }
    }
    do throws(Complaint) {
      var metadata: EdmMetadata?
      if let metadataFile {
        let text = try bytes(metadataFile)
        do { metadata = try EdmMetadata.read(text) } catch {
          throw Complaint(text: "\(metadataFile):\(error)")
        }
      }
      if uri == "-" {
        let text = try bytes(uri)
        guard let read = String(validating: text, as: UTF8.self) else {
          throw Complaint(text: "-: the input is not well-formed UTF-8")
        }
        uri = String(read.prefix { !$0.isNewline })
      }
      let settings = ODataAddressSettings(version: version, metadata: metadata, service: service)
      return answer(uri, settings, isGuess: version == nil && metadata == nil, isJSON: isJSON)
    } catch {
      return Outcome(status: 1, output: [], complaint: line(error.text))
    }
  }

  typealias Outcome = ODataShell.Outcome

  private struct Complaint: Error { let text: String }

  private static func misuse(_ problem: String) -> Outcome {
    Outcome(status: 2, output: [], complaint: "\(problem)\n\(usage)")
  }

  private static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  private static func answer(
    _ uri: String, _ settings: ODataAddressSettings, isGuess: Bool, isJSON: Bool
  ) -> Outcome {
    do throws(ODataError) {
      let address = try ODataAddress(parsing: uri, settings)
      var resolved: ODataResolvedAddress?
      if let metadata = settings.metadata {
        resolved = try ODataResolvedAddress(address, in: metadata)
      }
      let text: String
      if isJSON {
        var json = AddressJSON(settings.version)
        try json.address(address, resolved)
        text = json.writer.text
      } else {
        text = try self.text(address, resolved, settings.version)
      }
      return Outcome(status: 0, output: Array((text + "\n").utf8), complaint: "")
    } catch {
      let error = isGuess ? Self.withSwitch(error, uri, settings) : error
      let output = isJSON ? AddressJSON.refusal(error) + "\n" : ""
      return Outcome(status: 1, output: Array(output.utf8), complaint: line("address:\(error)"))
    }
  }

  /// The refusal of an address whose version nobody gave names the switch where V2 reads it.
  private static func withSwitch(
    _ error: ODataError, _ uri: String, _ settings: ODataAddressSettings
  ) -> ODataError {
    let old = ODataAddressSettings(version: .v2, service: settings.service)
    guard (try? ODataAddress(parsing: uri, old)) != nil else { return error }
    return ODataError(
      error.code, error.message, at: error.place, hint: error.hint + "; V2 reads it: --version 2")
  }

  /// One line for each part.
  private static func text(
    _ address: ODataAddress, _ resolved: ODataResolvedAddress?, _ version: ODataVersion
  ) throws(ODataError) -> String {
    var lines = ["version: \(version.rawValue)", "uri: \(try address.uri(version))"]
    if !address.service.isEmpty { lines.append("service: \(address.service)") }
    for (index, segment) in address.path.enumerated() {
      var only = ODataAddress()
      only.path = [.name("x"), segment]
      let spelled = try only.uri(version).drop { $0 == "x" || $0 == "/" }
      var line = "segment: "
      switch segment {
      case .name(let name): line += name
      case .metadata, .batch, .entity, .all, .crossjoin: line += "$" + segment.systemName
      default: line += spelled
      }
      if let step = resolved?.steps[index] {
        line += " (\(step.kind.rawValue)\(step.type.map { ", \($0)" } ?? ""))"
      }
      lines.append(line)
    }
    var only = ODataAddress()
    only.options = address.options
    let query = try only.uri(version).dropFirst()
    for option in query.split(separator: "&") { lines.append("option: \(option)") }
    if let type = resolved?.type { lines.append("type: \(type)") }
    return lines.joined(separator: "\n")
  }
}
