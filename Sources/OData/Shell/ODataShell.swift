import FerryOData

/// What `ferry odata describe` and `ferry odata convert` do, without touching a file themselves.
package enum ODataShell {
  /// What the program prints and how it ends.
  package struct Outcome: Sendable, Equatable {
    package var status: Int32
    package var output: [UInt8]
    /// One line, or nothing.
    package var complaint: String

    package init(status: Int32, output: [UInt8], complaint: String) {
      self.status = status
      self.output = output
      self.complaint = complaint
    }
  }

  package static let usage = """
    usage: ferry odata describe <file or -> [--json] [--strict] [--metadata <file>] \
    [--version 2|3|4]
           ferry odata convert <file or -> --to atom|json [--metadata <file>] [--version 2|3|4]
    """

  /// Gives the next bytes of a file each time it is called; nil at its end.
  package typealias Pieces = () throws -> [UInt8]?

  /// Runs one command over files that are there as a whole; `load` gives the bytes of one, or of
  /// the input for `-`.
  package static func run(
    _ arguments: [String], load: (String) throws -> [UInt8]
  ) -> Outcome {
    var output: [UInt8] = []
    var outcome = run(
      arguments,
      open: { path in
        var bytes: [UInt8]? = try load(path)
        return {
          defer { bytes = nil }
          return bytes
        }
      }, write: { output += $0 })
    if outcome.status == 0 { outcome.output = output }
    return outcome
  }

  /// Runs one command by pieces: a feed of any size is described or converted in the memory of its
  /// largest entry. `open` gives the pieces of a file, or of the input for `-`; what is printed goes
  /// to `write` as it is known, and `output` stays empty. What `convert` had written before it
  /// refused a document stays written; the status says so.
  package static func run(
    _ arguments: [String], open: (String) throws -> Pieces, write: ([UInt8]) throws -> Void
  ) -> Outcome {
    func misuse(_ problem: String) -> Outcome {
      Outcome(status: 2, output: [], complaint: "\(problem)\n\(usage)")
    }
    guard let verb = arguments.first, verb == "describe" || verb == "convert" else {
      return misuse("the verb is missing: write describe or convert")
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
        guard let value = rest.popFirst() else {
          return misuse("--metadata needs the name of a file")
        }
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
    guard let file else {
      return misuse("the file is missing: write its name, or - for standard input")
    }
    if verb == "convert", format == nil { return misuse("--to needs atom or json") }
    do throws(Complaint) {
      var metadata: EdmMetadata?
      if let metadataFile {
        var text: [UInt8] = []
        try pieces(metadataFile, open) { text += $0 }
        metadata = try Self.checked(metadataFile) { () throws(ODataError) in
          try EdmMetadata.read(text)
        }
      }
      let options = ODataReadOptions(metadata: metadata, isStrict: isStrict, version: version)
      if let format, verb == "convert" {
        let conversion = ODataConversion(to: format, version: version, options)
        try pieces(file, open) { piece throws(Complaint) in
          try Self.print(
            checked(file) { () throws(ODataError) in try conversion.push(piece) }, write)
        }
        let rest = try checked(file) { () throws(ODataError) in try conversion.finish() }
        try Self.print(rest + [0x0A], write)
        return Outcome(status: 0, output: [], complaint: "")
      }
      let describer = ODataDescriber(options)
      try pieces(file, open) { piece throws(Complaint) in
        try checked(file) { () throws(ODataError) in try describer.push(piece) }
      }
      let description = try checked(file) { () throws(ODataError) in try describer.finish() }
      let text = (isJSON ? description.json() : description.text()) + "\n"
      try Self.print(Array(text.utf8), write)
      return Outcome(status: 0, output: [], complaint: "")
    } catch {
      let line = error.text.split(whereSeparator: \.isNewline).joined(separator: " ")
      return Outcome(status: 1, output: [], complaint: line)
    }
  }

  private static func pieces(
    _ path: String, _ open: (String) throws -> Pieces,
    _ body: ([UInt8]) throws(Complaint) -> Void
  ) throws(Complaint) {
    let next: Pieces
    do { next = try open(path) } catch { throw Complaint(text: unreadable(path)) }
    while true {
      let piece: [UInt8]?
      do { piece = try next() } catch { throw Complaint(text: unreadable(path)) }
      guard let piece else { return }
      try body(piece)
    }
  }

  static func unreadable(_ path: String) -> String {
    "\(path) cannot be read. Check that the file exists and is readable."
  }

  private static func print(
    _ bytes: [UInt8], _ write: ([UInt8]) throws -> Void
  ) throws(Complaint) {
    guard !bytes.isEmpty else { return }
    do { try write(bytes) } catch { throw Complaint(text: "the output: \(error)") }
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
