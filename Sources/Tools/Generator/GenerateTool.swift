import FerryModel

/// What the build plugin's tool does: a model file in, Swift out, in one file or in one for each
/// entity, which several processors compile at one time.
package enum GenerateTool {
  /// What a run has to say, and whether it made the file.
  package struct Outcome: Sendable, Equatable {
    /// In the form of a compiler's messages, which builds show at the model's line.
    package let messages: [String]
    package let succeeded: Bool
  }

  /// `arguments` without the program's name: `<model.json> --out <file.swift> [--split]`. With
  /// `--split` the entities are written beside the file: `Shop.swift`, `Shop+Order.swift`, ….
  package static func run(_ arguments: [String]) -> Outcome {
    let isSplit = arguments.last == "--split"
    guard arguments.count == (isSplit ? 4 : 3), arguments[1] == "--out" else {
      return Outcome(
        messages: ["error: usage: ferry-generate <model.json> --out <file.swift> [--split]"],
        succeeded: false)
    }
    do throws(GeneratorError) {
      return try generate(arguments[0], to: arguments[2], isSplit: isSplit)
    } catch {
      return Outcome(messages: ["error: \(error)"], succeeded: false)
    }
  }

  private static func generate(
    _ file: String, to out: String, isSplit: Bool
  ) throws(GeneratorError) -> Outcome {
    let reading = ModelReader.read(try TextFile.read(file), file: file)
    guard let package = reading.package else {
      return Outcome(messages: reading.errors.map(\.description), succeeded: false)
    }
    let name = file.split(separator: "/").last.map(String.init) ?? file
    if isSplit {
      try TextFile.renew(SwiftRenderer.renderPackage(package, from: name), at: out)
      let stem = TextFile.stem(of: out)
      for entity in package.entities {
        try TextFile.renew(
          SwiftRenderer.render(entity, of: package, from: name),
          at: TextFile.sibling(of: out, named: "\(stem)+\(entity.name).swift"))
      }
    } else {
      try TextFile.write(SwiftRenderer.render(package, from: name), to: out)
    }
    // Warnings were shown by `ferry check`; a build of an app has nothing to say about them.
    return Outcome(messages: [], succeeded: true)
  }
}
