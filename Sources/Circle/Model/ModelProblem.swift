import FerryJSON

/// One mistake in a model, or one thing its author should know, with its place and its cure.
public struct ModelProblem: Sendable, Hashable, CustomStringConvertible {
  /// Whether the model can be used all the same.
  public enum Severity: String, Sendable, Hashable {
    /// The model cannot be used.
    case error
    /// The model can be used; someone should have looked at this.
    case warning
  }

  /// Where in the file it stands.
  public struct Place: Sendable, Hashable, CustomStringConvertible {
    /// The name of the file as it was given to the reader.
    public let file: String
    /// Counted from 1.
    public let line: Int
    /// Counted from 1, in code points.
    public let column: Int
    /// `entities[3].attributes[0].type`; empty for the model as a whole.
    public let path: String

    public init(file: String, line: Int, column: Int, path: String) {
      self.file = file
      self.line = line
      self.column = column
      self.path = path
    }

    public var description: String { "\(file):\(line):\(column)" }
  }

  public let severity: Severity
  public let place: Place
  /// What is wrong, a clause without a full stop.
  public let what: String
  /// What to do, a sentence.
  public let cure: String

  public init(severity: Severity, place: Place, what: String, cure: String) {
    self.severity = severity
    self.place = place
    self.what = what
    self.cure = cure
  }

  /// `model.json:12:9: error: what (entities[0].name). Cure.`: the form that compilers use, so
  /// that editors and SwiftPM lead to the place.
  public var description: String {
    let path = place.path.isEmpty ? "" : " (\(place.path))"
    return "\(place): \(severity.rawValue): \(what)\(path). \(cure)"
  }
}

/// Problems as they are found, by offset; turned into places at the end.
struct ModelFindings {
  private struct Finding {
    let severity: ModelProblem.Severity
    let offset: Int
    let path: String
    let what: String
    let cure: String
  }

  private var findings: [Finding] = []

  var hasErrors: Bool { findings.contains { $0.severity == .error } }

  mutating func error(_ place: ModelPlace, _ what: String, cure: String) {
    add(.error, place, what, cure)
  }

  mutating func warning(_ place: ModelPlace, _ what: String, cure: String) {
    add(.warning, place, what, cure)
  }

  private mutating func add(
    _ severity: ModelProblem.Severity, _ place: ModelPlace, _ what: String, _ cure: String
  ) {
    findings.append(
      Finding(severity: severity, offset: place.offset, path: place.path, what: what, cure: cure))
  }

  /// In the order of the text; those of one place in the order they were found.
  func problems(file: String, text: [UInt8]) -> [ModelProblem] {
    let ordered = findings.enumerated().sorted {
      ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset)
    }
    return ordered.map { _, finding in
      let place = TextPlace(offset: finding.offset, in: text)
      return ModelProblem(
        severity: finding.severity,
        place: ModelProblem.Place(
          file: file, line: place.line, column: place.column, path: finding.path),
        what: finding.what, cure: finding.cure)
    }
  }
}

/// Where something stands in a model that is being read.
struct ModelPlace: Sendable {
  let offset: Int
  let path: String
}
