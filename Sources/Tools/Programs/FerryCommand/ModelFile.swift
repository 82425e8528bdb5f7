import FerryGenerator
import FerryModel

/// A model that a command needs whole.
enum ModelFile {
  /// Shows its mistakes where it has some.
  static func read(_ file: String) throws -> Package {
    let reading = ModelReader.read(try TextFile.read(file), file: file)
    guard let package = reading.package else {
      for problem in reading.errors { Terminal.error(problem.description) }
      throw GeneratorError(
        "\(file) is not a valid model", hint: "Correct it first: `ferry check` shows the errors.")
    }
    return package
  }
}
