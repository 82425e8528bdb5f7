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
    if models.isEmpty {
      Diagnostics.warning(
        "\(target.name) uses FerryPlugin but has no model.json; make one with `ferry new`")
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
