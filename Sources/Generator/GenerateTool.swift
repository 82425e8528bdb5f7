import FerryModel

/// What the build plugin's tool does: a model file in, a Swift file out.
public enum GenerateTool {
  /// What a run has to say, and whether it made the file.
  public struct Outcome: Sendable, Equatable {
    /// In the form of a compiler's messages, which builds show at the model's line.
    public let messages: [String]
    public let succeeded: Bool
  }

  /// `arguments` without the program's name: `<model.json> --out <file.swift>`.
  public static func run(_ arguments: [String]) -> Outcome {
    guard arguments.count == 3, arguments[1] == "--out" else {
      return Outcome(
        messages: ["error: usage: ferry-generate <model.json> --out <file.swift>"], succeeded: false
      )
    }
    do throws(GeneratorError) {
      return try generate(arguments[0], to: arguments[2])
    } catch {
      return Outcome(messages: ["error: \(error)"], succeeded: false)
    }
  }

  private static func generate(_ file: String, to out: String) throws(GeneratorError) -> Outcome {
    let reading = ModelReader.read(try TextFile.read(file), file: file)
    guard let package = reading.package else {
      return Outcome(messages: reading.errors.map(\.description), succeeded: false)
    }
    let name = file.split(separator: "/").last.map(String.init) ?? file
    try TextFile.write(SwiftRenderer.render(package, from: name), to: out)
    // Warnings were shown by `ferry check`; a build of an app has nothing to say about them.
    return Outcome(messages: [], succeeded: true)
  }
}
