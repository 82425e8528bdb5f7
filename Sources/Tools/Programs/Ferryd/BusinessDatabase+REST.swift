import FerryArguments
import FerryConnections
import FerryConnector
import FerryModel
import FerryRESTConnector
import FerryWorld
import Foundation

extension BusinessDatabase {
  /// A service of REST, `rest:http://…`, with its mapping in `<package>.rest.json` beside the model. Nil
  /// for another kind of address. `file`: nil where the model is in no folder.
  init?(rest text: String?, _ package: Package, beside file: String?) throws {
    guard let text, text.hasPrefix("rest:") else { return nil }
    guard let file else {
      throw UsageError(
        "\(package.id) has a REST service, and its mapping is beside the model",
        hint: "Start ferryd with --model: `ferry deploy` does not send the mapping yet.")
    }
    let folder = URL(filePath: file).deletingLastPathComponent().path
    let name = "\(folder)/\(RESTMapping.fileName(of: package))"
    guard let bytes = FileManager.default.contents(atPath: name) else {
      throw UsageError(
        "the mapping \(name) cannot be read",
        hint: "Make it with `ferry new --from openapi:http://…`, or write it by hand.")
    }
    let mapping: RESTMapping
    do throws(RESTMappingFault) { mapping = try RESTMapping([UInt8](bytes), for: package) } catch {
      throw StartFailure("\(name) is wrong at \(error.place): \(error.problem)", hint: error.cure)
    }
    let address = String(text.dropFirst(5))
    do throws(ConnectorError) {
      self = .rest(
        try RESTConnection(
          mapping.service ?? address, mapping: mapping, folder: folder, world: .system()))
    } catch {
      throw UsageError(error.message, hint: error.hint)
    }
  }
}
