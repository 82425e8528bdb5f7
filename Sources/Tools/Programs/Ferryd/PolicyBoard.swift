import FerryCachePolicies
import FerryConnections
import FerryJSON
import FerryModel
import FerryServer
import FerryWorld
import Foundation
import Synchronization

/// The cache groups of the packages of a server. Policies change while it runs; which groups are
/// suspended is kept in a file of the data folder.
final class PolicyBoard: Sendable {
  private struct Entry {
    let package: Package
    let file: PolicyFile?
    let groups: CacheGroups
  }

  private struct State {
    var entries: [String: Entry] = [:]
    /// By the package; nil before the file was read.
    var suspended: [String: [String]]?
  }

  private let path: String
  private let state = Mutex(State())

  init(data: String) { path = "\(data)/cache-groups.json" }

  /// Those of a package that is served from now on. What its devices wait for outlives a new host.
  func groups(of model: ServedModel) throws(ServerError) -> CacheGroups {
    let id = model.package.id
    let known = try suspended()
    return state.withLock { state in
      if let entry = state.entries[id] {
        state.entries[id] = Entry(
          package: model.package, file: model.policyFile, groups: entry.groups)
        entry.groups.change(to: model.policies)
        return entry.groups
      }
      let groups = CacheGroups(model.policies, suspended: Set(known[id] ?? [])) {
        [weak self] names throws(ServerError) in try self?.keep(names, of: id)
      }
      state.entries[id] = Entry(package: model.package, file: model.policyFile, groups: groups)
      return groups
    }
  }

  /// Reads every file again. What is wrong changes nothing, and is thrown after the others were read.
  func reload() throws {
    var failure: (any Error)?
    for entry in state.withLock({ Array($0.entries.values) }) {
      guard let file = entry.file else { continue }
      do { entry.groups.change(to: try file.read(for: entry.package)) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private func suspended() throws(ServerError) -> [String: [String]] {
    if let known = state.withLock({ $0.suspended }) { return known }
    var found: [String: [String]] = [:]
    if let bytes = FileManager.default.contents(atPath: path) {
      guard let members = (try? JSONNode.parse([UInt8](bytes)))?["suspended"]?.object else {
        throw ServerError(
          .badRequest, "the file of suspended cache groups \(path) cannot be read",
          hint: "Remove it; then no group is suspended.")
      }
      for member in members { found[member.key] = member.value.array?.compactMap(\.string) }
    }
    state.withLock { $0.suspended = found }
    return found
  }

  private func keep(_ names: Set<String>, of package: String) throws(ServerError) {
    let all = state.withLock { state in
      state.suspended?[package] = names.isEmpty ? nil : names.sorted()
      return state.suspended ?? [:]
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("suspended")
    writer.beginObject()
    for (package, names) in all.sorted(by: { $0.key < $1.key }) {
      writer.key(package)
      writer.array(names) { $0.string($1) }
    }
    writer.endObject()
    writer.endObject()
    do { try Data(writer.bytes).write(to: URL(filePath: path), options: .atomic) } catch {
      throw ServerError(
        .folderNotWritable, "it holds until ferryd ends: \(path) cannot be written",
        hint: "Make room, or give the user of the server the right to write there.")
    }
  }
}
