/// What `ferry odata describe` and `ferry odata convert` do, without touching a file themselves.
public enum ODataShell {
  /// What the program prints and how it ends.
  public struct Outcome: Sendable, Equatable {
    public var status: Int32
    public var output: [UInt8]
    /// One line, or nothing.
    public var complaint: String
  }

  public static let usage = """
    usage: ferry odata describe <file or -> [--json] [--strict] [--metadata <file>] \
    [--version 2|3|4]
           ferry odata convert <file or -> --to atom|json [--metadata <file>] [--version 2|3|4]
    """

  /// Runs one command; `load` gives the bytes of a file, or of the input for `-`.
  public static func run(
    _ arguments: [String], load: (String) throws -> [UInt8]
  ) -> Outcome {
    func misuse(_ problem: String) -> Outcome {
      Outcome(status: 2, output: [], complaint: "\(problem)\n\(usage)")
    }
    guard let verb = arguments.first, verb == "describe" || verb == "convert" else {
      return misuse("describe or convert was expected")
    }
    var file: String?
    var isJSON = false
    var isStrict = false
    var metadataFile: String?
    var version: ODataVersion?
    var format: ODataFormat?
    var rest = arguments.dropFirst()
    while let argument = rest.popFirst() {
      switch argument {
      case "--json": isJSON = true
      case "--strict": isStrict = true
      case "--metadata":
        guard let value = rest.popFirst() else { return misuse("--metadata needs a file") }
        metadataFile = value
      case "--version":
        guard
          let found = rest.popFirst().flatMap({ Int($0) }).flatMap({ ODataVersion(rawValue: $0) }),
          found != .v1
        else { return misuse("--version needs 2, 3 or 4") }
        version = found
      case "--to":
        switch rest.popFirst() {
        case "atom": format = .atom
        case "json": format = .json
        default: return misuse("--to needs atom or json")
        }
      default:
        if argument.hasPrefix("--") || file != nil { return misuse("\(argument) was not expected") }
        file = argument
      }
    }
    guard let file else { return misuse("a file or - was expected") }
    if verb == "convert", format == nil { return misuse("--to needs atom or json") }
    func bytes(_ path: String) throws(Complaint) -> [UInt8] {
      do { return try load(path) } catch { throw Complaint(text: "\(path): \(error)") }
    }
    do throws(Complaint) {
      var metadata: EdmMetadata?
      if let metadataFile {
        let text = try bytes(metadataFile)
        metadata = try Self.checked(metadataFile) { () throws(ODataError) in
          try EdmMetadata.read(text)
        }
      }
      let options = ODataReadOptions(metadata: metadata, isStrict: isStrict, version: version)
      let document = try bytes(file)
      if let format, verb == "convert" {
        let converted = try Self.checked(file) { () throws(ODataError) in
          try ODataConversion.convert(document, to: format, version: version, options)
        }
        return Outcome(status: 0, output: converted + [0x0A], complaint: "")
      }
      let description = try Self.checked(file) { () throws(ODataError) in
        try ODataDescriber.describe(document, options)
      }
      let text = (isJSON ? description.json() : description.text()) + "\n"
      return Outcome(status: 0, output: Array(text.utf8), complaint: "")
    } catch {
      let line = error.text.split(whereSeparator: \.isNewline).joined(separator: " ")
      return Outcome(status: 1, output: [], complaint: line)
    }
  }

  private struct Complaint: Error { let text: String }

  private static func checked<T>(
    _ file: String, _ body: () throws(ODataError) -> T
  ) throws(Complaint) -> T {
    do throws(ODataError) { return try body() } catch {
      throw Complaint(text: "\(file):\(error)")
    }
  }
}
