import FerryModel

/// From a database to the text of a model: read, translate, write, and read back to be sure.
package enum ModelMaker {
  /// The model and everything its author should read.
  package struct Result: Sendable {
    package let translation: Translation
    /// The model file.
    package let text: String
    /// What `ferry check` says of it; never an error.
    package let warnings: [ModelProblem]
    /// What every user may write; `ferry check` warns of it too.
    package let openings: [ModelProblem]
  }

  /// `file` is the name under which the model will be known; `source`, if given, is written into it
  /// for the server.
  package static func make(
    fromSQLite path: String, options: TranslationOptions, file: String, source: String? = nil
  ) throws(GeneratorError) -> Result {
    let schema = try SchemaReader.read(path: path)
    let made = try make(from: schema, options: options, file: file, source: source)
    let package = made.translation.package
    let crossing = try CrossingReferences.notes(of: package, inSQLite: path)
    return Result(
      translation: Translation(package: package, notes: made.translation.notes + crossing),
      text: made.text, warnings: made.warnings, openings: made.openings)
  }

  package static func make(
    from schema: DatabaseSchema, options: TranslationOptions, file: String, source: String? = nil
  ) throws(GeneratorError) -> Result {
    let translation = try Translator.translate(schema, options: options)
    let text = ModelWriter.text(of: translation.package, source: source)
    let reading = ModelReader.read(Array(text.utf8), file: file)
    guard let package = reading.package, package == translation.package else {
      throw GeneratorError(
        "the model does not pass its own check: "
          + (reading.errors.first?.description ?? "it changes when it is written and read again"),
        hint: reading.errors.first?.cure ?? "Report this schema.")
    }
    return Result(
      translation: translation, text: text, warnings: reading.warnings,
      openings: reading.openings)
  }
}
