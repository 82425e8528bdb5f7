import FerryHTTP
import FerryJSON

/// What an operator sees of cache groups, and does with them.
extension Router {
  /// `GET …/cache` lists them; `POST` takes `verb` (`refresh`, `suspend`, `resume`), `group` and, where
  /// several packages have a group of the name, `package`.
  func operateCache(_ request: HTTPRequest) async -> HTTPResponse {
    do throws(ServerError) {
      guard request.method != .get else { return json(200, cacheGroups()) }
      guard let node = try? JSONNode.parse(request.body), let verb = node["verb"]?.string,
        let name = node["group"]?.string
      else { return unreadable("cache takes verb and group") }
      let served = try package(withGroup: name, node["package"]?.string)
      let groups = served.service.cacheGroups
      switch verb {
      case "refresh": try groups.refresh(name)
      case "suspend": try groups.suspend(name)
      case "resume": try groups.resume(name)
      default:
        throw ServerError(
          .badRequest, "there is no verb \"\(verb)\"", hint: "Write refresh, suspend or resume.")
      }
      audit.note(
        .cacheOperated, address: address(of: request),
        reason: "\(served.package.id) \(name) \(verb)")
      return json(200, cacheGroups())
    } catch {
      return refusal(error.code == .badRequest ? 409 : 503, error)
    }
  }

  private func package(
    withGroup name: String, _ package: String?
  ) throws(ServerError) -> ServedPackage {
    let asked = packages.filter { package == nil || $0.package.id == package }
    let now = world.clock.uptime
    let found = asked.filter { served in
      served.service.cacheGroups.statuses(at: now).contains { $0.name == name }
    }
    guard found.count < 2 else {
      let names = found.map(\.package.id).joined(separator: ", ")
      throw ServerError(
        .badRequest, "several packages have a cache group \(name): \(names)",
        hint: "Name the package with --package.")
    }
    guard let one = found.first else {
      let all = asked.flatMap { served in
        served.service.cacheGroups.statuses(at: now).map { "\(served.package.id) \($0.name)" }
      }
      throw ServerError(
        .badRequest, "there is no cache group \(name)",
        hint: all.isEmpty
          ? "No package has one: write them into its file of policies."
          : "There are: \(all.joined(separator: ", ")).")
    }
    return one
  }

  private func cacheGroups() -> [UInt8] {
    let now = world.clock.uptime
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("packages")
    writer.array(packages) { writer, served in
      writer.beginObject()
      writer.field("package", served.package.id)
      writer.key("cacheGroups")
      writer.array(served.service.cacheGroups.statuses(at: now)) { $1.write(to: &$0) }
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes
  }
}
