import FerryConnections
import FerryGenerator
import FerryModel
import FerryRESTConnector

extension MappingText {
  /// Throws what is wrong with the mapping, where, and what to do about it.
  func check(for package: Package) throws {
    do throws(RESTMappingFault) { _ = try RESTMapping(bytes, for: package) } catch {
      throw GeneratorError(
        "\(name) is wrong at \(error.place): \(error.problem)", hint: error.cure)
    }
  }
}
