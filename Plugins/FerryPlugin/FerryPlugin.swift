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
      let out = context.pluginWorkDirectoryURL.appending(path: "\(packageName(model)).swift")
      return .buildCommand(
        displayName: "Ferry: \(model.lastPathComponent) -> \(out.lastPathComponent)",
        executable: tool, arguments: [model.path, "--out", out.path], inputFiles: [model] + schemas,
        outputFiles: [out])
    }
  }

  private func isModel(_ file: URL) -> Bool {
    let name = file.lastPathComponent
    return name == "model.json" || name.hasSuffix(".model.json")
  }

  /// What the model calls itself; a file that cannot be read is reported by the tool.
  private func packageName(_ model: URL) -> String {
    let json = (try? Data(contentsOf: model)).flatMap {
      try? JSONSerialization.jsonObject(with: $0)
    }
    let name = (json as? [String: Any])?["name"] as? String ?? "Model"
    return name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } && !name.isEmpty
      ? name : "Model"
  }
}
