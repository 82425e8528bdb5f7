import FerryArguments
import FerryGenerator
import FerryModel
import FerryOData
import FerryODataFace
import FerryODataShell
import Foundation

/// `ferry odata`: what any OData document holds, the same in the other format, and what an address
/// says.
enum ODataCommand: Subcommand {
  static let name = "odata"
  static let summary = "read OData documents, or read and change the entries of a service"
  static let operands =
    "describe|convert|address|get|create|update|delete <file, uri or -> [<json>] [options]"
  static let options = [
    .json, CommandOption("strict", nil, "also refuse small violations of the format"),
    CommandOption("metadata", "<file>", "the service's $metadata, for types"),
    CommandOption("version", "2|3|4", "the version, if the document does not say"),
    CommandOption("to", "atom|json", "the format that convert writes"),
    CommandOption("service", "<root>", "the root address of the service"),
    CommandOption("authority", "<pem>", "certificate authority to trust for the service"),
    CommandOption("trust", "<fingerprint>", "accept the certificate that has this fingerprint"),
    CommandOption("user", "<name>", "log in if the service asks; the password is asked for"),
    CommandOption("password-stdin", nil, "read the password from standard input, one line"),
    CommandOption("csrf", nil, "send changes with the token that SAP services require"),
  ]
  static let discussion = """
    describe shows what a service document, metadata, feed, entry, error, batch or OpenSearch
    description contains; --json prints one object (Documentation/odata-describe.schema.json). Of a
    Ferry model it shows the service that ferryd --odata offers, that of V2 with --version 2.
    convert rewrites a feed or entry between Atom and JSON. address parses an OData address, or
    refuses it with the column and the cure (Documentation/odata-address.schema.json).
    - reads standard input.

    get prints the entries at an address of a service, page after page, one JSON object per line. At
    the root of a service it prints the collections, of Items(7)/Name that property, and of $count
    and $value what the service sends. Spaces in an address are encoded. create and update take the
    properties as a JSON object, and refuse one that the metadata does not have. update and delete
    succeed only if nobody else has changed the object (its ETag). Without --service, the root of
    the service is the address before the set. An untrusted certificate is shown with its
    fingerprint and refused, unless --trust names the fingerprint.

    Exit codes: 0 it was read; 1 it was refused, with one line that says why and where;
    2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    if ODataServiceCommand.verbs.contains(arguments.operands.first ?? "") {
      return try await ODataServiceCommand.run(arguments)
    }
    var words = arguments.operands
    for option in ["json", "strict"] where arguments.flag(option) { words.append("--\(option)") }
    for option in ["metadata", "version", "to", "service"] {
      if let value = try arguments.value(option) { words += ["--\(option)", value] }
    }
    for file in arguments.operands.dropFirst() + arguments.values("metadata") {
      try TextFile.requireNoFolder(file)
    }
    let outcome =
      words.first == "address"
      ? ODataAddressShell.run(Array(words.dropFirst()), load: load)
      : ODataShell.run(
        words, open: { try model($0, words) ?? open($0) }, write: Terminal.write)
    try Terminal.write(outcome.output)
    let code: ExitCode =
      switch outcome.status {
      case 0: .success
      case 1: .problems
      default: .usage
      }
    if !outcome.complaint.isEmpty {
      Terminal.error(outcome.complaint)
      // `address` has printed its own, with the column.
      if arguments.flag("json"), outcome.output.isEmpty {
        Terminal.show(
          CommandFailure(complaint: outcome.complaint, of: code).json(exitCode: code), asJSON: true)
      }
    }
    return code
  }

  /// The metadata of the service that a model is; nil for a file that is no model.
  private static func model(
    _ path: String, _ words: [String]
  ) throws -> (() throws -> [UInt8]?)? {
    guard words.first == "describe", path.hasSuffix(".json"),
      let package = ModelReader.read(try load(path), file: path).package
    else { return nil }
    let isOld = zip(words, words.dropFirst()).contains { $0 == "--version" && $1 == "2" }
    var metadata: [UInt8]? = try ODataFace.metadata(of: package, isOld ? .v2 : .v4)
    return {
      defer { metadata = nil }
      return metadata
    }
  }

  private static func open(_ path: String) throws -> () throws -> [UInt8]? {
    let file =
      path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
    return {
      let piece = try file.read(upToCount: 64 << 10)
      return piece.flatMap { $0.isEmpty ? nil : Array($0) }
    }
  }

  private static func load(_ path: String) throws -> [UInt8] {
    if path == "-" { return Array(try FileHandle.standardInput.readToEnd() ?? Data()) }
    return Array(try Data(contentsOf: URL(filePath: path)))
  }
}
