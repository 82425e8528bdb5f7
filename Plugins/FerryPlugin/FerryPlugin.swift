import Foundation
import PackagePlugin

/// Makes Swift from every `model.json` and `….model.json` among a target's files.
@main struct FerryPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    guard let target = target.sourceModule else { return [] }
    let tool = try context.tool(named: "FerryGenerate").url
    let files = target.sourceFiles.map(\.url)
    // Named as inputs, they are not reported as files that nothing handles.
    let schemas = files.filter { $0.lastPathComponent == "model.schema.json" }
    let models = files.filter(isModel)
    // A warning is shown by the first build only: what follows it names none of this.
    guard !models.isEmpty else {
      throw ModelProblem.missing(
        in: target.directoryURL, of: target.name,
        similar: similarFiles(to: target.directoryURL, in: context.package.directoryURL))
    }
    let byName = Dictionary(grouping: models) { packageName(content(of: $0)) }
    if let (name, files) = byName.first(where: { $0.value.count > 1 }) {
      throw ModelProblem.sameName(name, files, of: target.name)
    }
    return models.map { model in
      let content = content(of: model)
      let stem = packageName(content)
      let folder = context.pluginWorkDirectoryURL
      let out = folder.appending(path: "\(stem).swift")
      let entities = entityNames(content).map { folder.appending(path: "\(stem)+\($0).swift") }
      return .buildCommand(
        displayName: "Ferry: \(model.lastPathComponent) -> \(out.lastPathComponent)",
        executable: tool, arguments: [model.path, "--out", out.path, "--split"],
        inputFiles: [model] + schemas, outputFiles: [out] + entities)
    }
  }

  /// Files that may be meant: in the target's folder, where it may be left out, and around it.
  private func similarFiles(to folder: URL, in package: URL) -> [String] {
    let places = [folder, folder.deletingLastPathComponent(), package]
    let files = FileManager.default
    var found: [String] = []
    for place in places {
      // Below the target's folder, and in the other two.
      let names =
        (place == folder ? files.subpaths(atPath: place.path) : nil)
        ?? (try? files.contentsOfDirectory(atPath: place.path)) ?? []
      for name in names.sorted() where name.lowercased().hasSuffix(".json") {
        let file = place.appending(path: name)
        let isSimilar =
          name.lowercased().contains("model") && !name.hasSuffix("model.schema.json")
          || content(of: file)["entities"] != nil
        if isSimilar, !found.contains(file.path) { found.append(file.path) }
      }
    }
    return Array(found.prefix(5))
  }

  private func isModel(_ file: URL) -> Bool {
    let name = file.lastPathComponent
    return name == "model.json" || name.hasSuffix(".model.json")
  }

  /// A file that cannot be read is reported by the tool.
  private func content(of model: URL) -> [String: Any] {
    let json = (try? Data(contentsOf: model)).flatMap {
      try? JSONSerialization.jsonObject(with: $0)
    }
    return json as? [String: Any] ?? [:]
  }

  /// What the model calls itself.
  private func packageName(_ content: [String: Any]) -> String {
    let name = content["name"] as? String ?? "Model"
    return isName(name) ? name : "Model"
  }

  /// Each entity becomes a file; names that cannot be are reported by the tool.
  private func entityNames(_ content: [String: Any]) -> [String] {
    var names: [String] = []
    for case let entity as [String: Any] in content["entities"] as? [Any] ?? [] {
      guard let name = entity["name"] as? String, isName(name), !names.contains(name) else {
        continue
      }
      names.append(name)
    }
    return names
  }

  private func isName(_ text: String) -> Bool {
    !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
  }
}

/// What a target's models are not.
private enum ModelProblem: Error, CustomStringConvertible {
  case missing(in: URL, of: String, similar: [String])
  case sameName(String, [URL], of: String)

  var description: String {
    switch self {
    case .missing(let folder, let target, let similar):
      let found =
        similar.isEmpty
        ? "" : " Similar files: \(similar.joined(separator: ", ")). Move or rename the right one."
      return "\(target) uses FerryPlugin, but no model.json or ….model.json is among its files in "
        + "\(folder.path). Make one with `ferry new`.\(found)"
    case .sameName(let name, let files, let target):
      let paths = files.map(\.path).sorted().joined(separator: " and ")
      return "\(target) has several models with the name \(name): \(paths). Remove one, give it "
        + "another \"name\", or put it into a target of its own."
    }
  }
}
