import FerryJSON

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// Why a file of applications cannot be used.
package struct ApplicationsError: Error, Sendable, Equatable, CustomStringConvertible {
  package let message: String
  package let hint: String

  package init(_ message: String, hint: String) {
    self.message = message
    self.hint = hint
  }

  package var description: String { "\(message). \(hint)" }
}

/// An app whose devices may register.
package struct Application: Sendable {
  /// How its devices prove that they may register.
  package enum Admission: String, Sendable, CaseIterable {
    /// By name and password.
    case automatic
    /// By an activation code beside name and password.
    case code
  }

  /// Such as `com.example.flights`.
  package let id: String
  /// Services of the gateway that its connections may use; the first is its endpoint.
  package var services: [String] = []
  /// Nil: any that matches the user.
  package var template: String?
  package var admission: Admission = .automatic
  /// Users who may register; nil: all.
  package var users: Set<String>?
  /// Whether nobody has to log in.
  package var isAnonymous: Bool = false
  /// Roles of which a service needs one to send payloads.
  package var pushRoles: Set<String> = [Application.pushRole]
  /// How many payloads wait for a connection at most.
  package var queue: Int = 100

  /// Whether a person has to read a picture before the app registers.
  package var asksCaptcha: Bool = false
  /// The folder of its resource bundles; nil: it has none.
  package var bundles: String?
  /// The bundle, as `name:version`, of connections that have none of their own.
  package var bundle: String?

  /// The address to which traces of its devices are sent on; nil: none are taken.
  package var traces: String?
  /// Where devices get the app, in the order of the page that shows them.
  package var packages: [AppPackage] = []

  /// How its devices are woken; nil: they are not.
  var push: ApplicationPush?

  package static let pushRole: String = "SUP Push User"

  package init(id: String) { self.id = id }
}

/// The applications of a server, from a JSON file:
///
///     {"applications": [{"id": "com.example.flights", "services": ["flights"]}]}
package struct ApplicationsFile: Sendable {
  /// By id, in the order of the file.
  package let applications: [Application]

  package init(_ applications: [Application]) { self.applications = applications }

  /// Reads the file. A member that is not known is an error.
  package init(path: String) throws(ApplicationsError) {
    guard let file = fopen(path, "re") else {
      throw ApplicationsError(
        "the file of applications \(path) cannot be read",
        hint: "Name a file that exists (--applications).")
    }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: ApplicationsFile.mostBytes + 1)
    let count = fread(&bytes, 1, bytes.count, file)
    guard ferror(file) == 0, count <= ApplicationsFile.mostBytes else {
      throw ApplicationsError(
        "the file of applications \(path) is not a file of at most 1 MB",
        hint: "Name a file (--applications).")
    }
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    try self.init(Array(bytes.prefix(count)), name: path, keys: folder)
  }

  static let mostBytes: Int = 1 << 20

  /// Reads the text of a file.
  ///
  /// `keys`: the folder of the files that it names.
  package init(
    _ bytes: [UInt8], name: String, keys: String = "."
  ) throws(ApplicationsError) {
    let root: JSONNode
    do throws(JSONError) { root = try JSONNode.parse(bytes) } catch {
      throw ApplicationsError(
        "\(name):\(TextPlace(offset: error.offset, in: bytes)): \(error.problem)",
        hint: "Correct the file.")
    }
    let reader = Reader(bytes: bytes, name: name, keys: Keys(folder: keys))
    try reader.check(root, ["applications"], "the file")
    guard let nodes = root["applications"]?.array, !nodes.isEmpty else {
      throw reader.fault(root, "the file has no list of applications")
    }
    var found: [Application] = []
    for node in nodes {
      let application = try reader.application(node)
      guard !found.contains(where: { $0.id == application.id }) else {
        throw reader.fault(node, "there are two applications \(application.id)")
      }
      found.append(application)
    }
    applications = found
  }

  private struct Reader: MemberReader {
    let bytes: [UInt8]
    let name: String
    let keys: Keys

    func fault(_ node: JSONNode, _ text: String) -> ApplicationsError {
      ApplicationsError(
        "\(name):\(TextPlace(offset: node.offset, in: bytes)): \(text)", hint: "Correct the file.")
    }

    func application(_ node: JSONNode) throws(ApplicationsError) -> Application {
      try check(
        node,
        [
          "id", "services", "template", "admission", "users", "anonymous", "pushRoles", "queue",
          "push", "bundles", "bundle", "captcha", "packages",
          "traces",
        ], "an application")
      guard let id = node["id"]?.string, ConnectionID.isGood(id), id.utf8.count <= 90 else {
        throw fault(
          node["id"] ?? node,
          "an application needs an id of at most 90 letters, digits, -, _, . and ~")
      }
      var application = Application(id: id)
      application.services = try texts(node, "services") ?? []
      if let value = node["template"] {
        guard let text = value.string, !text.isEmpty else {
          throw fault(value, "\"template\" is not a text")
        }
        application.template = text
      }
      if let value = node["admission"] {
        guard let admission = value.string.flatMap(Application.Admission.init) else {
          throw fault(value, "\"admission\" is neither automatic nor code")
        }
        application.admission = admission
      }
      application.users = try texts(node, "users").map(Set.init)
      if let flag = try flag(node, "anonymous") { application.isAnonymous = flag }
      if let flag = try flag(node, "captcha") { application.asksCaptcha = flag }
      if let roles = try texts(node, "pushRoles") { application.pushRoles = Set(roles) }
      if let number = try number(node, "queue", 1...10_000) { application.queue = number }
      if let value = node["bundles"] {
        guard let folder = value.string, !folder.isEmpty else {
          throw fault(value, "\"bundles\" is not the name of a folder")
        }
        application.bundles = folder.hasPrefix("/") ? folder : "\(keys.folder)/\(folder)"
      }
      if let value = node["bundle"] {
        guard let text = value.string, application.bundles != nil,
          text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            .allSatisfy(BundleFile.isGood), text.split(separator: ":").count == 2
        else {
          throw fault(value, "\"bundle\" is not name:version of a bundle in the folder \"bundles\"")
        }
        application.bundle = text
      }
      if let value = node["traces"] {
        guard let text = value.string,
          ["https://", "http://"].contains(where: { text.hasPrefix($0) && text != $0 })
        else { throw fault(value, "\"traces\" is no address that begins with https:// or http://") }
        application.traces = text
      }
      if let value = node["packages"] { application.packages = try packages(value) }
      if let value = node["push"] {
        application.push = try ApplicationsFile.push(
          value, keys, fault,
          check: { node, known, what throws(ApplicationsError) in try check(node, known, what) })
      }
      return application
    }

    private func packages(_ node: JSONNode) throws(ApplicationsError) -> [AppPackage] {
      guard let nodes = node.array else { throw fault(node, "\"packages\" is not a list") }
      var found: [AppPackage] = []
      for node in nodes {
        try check(node, ["name", "address"], "a package")
        guard
          let package = AppPackage(
            name: node["name"]?.string ?? "", address: node["address"]?.string ?? "")
        else {
          throw fault(
            node,
            "a package needs a name of at most 64 letters, digits, blanks and .,-()/+, and an "
              + "address that begins with https://, http://, itms-services:// or market://")
        }
        found.append(package)
      }
      return found
    }
  }
}

/// What an application connection id may be.
enum ConnectionID {
  static let mostBytes: Int = 128

  /// Characters that mean nothing else in an address, a cookie, a header or a log.
  static func isGood(_ text: String) -> Bool {
    (1...mostBytes).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "-_.~".utf8.contains(byte)
      } && text != "." && text != ".."
  }
}
