/// The streets of Package.swift and what each may import.
enum StreetRules {
  struct Street {
    let folder: String
    /// Streets whose modules may be named.
    let streets: Set<String>
    /// Single modules of other streets that may be named too.
    let modules: Set<String>

    init(_ folder: String, _ streets: Set<String> = [], and modules: Set<String> = []) {
      self.folder = folder
      self.streets = streets
      self.modules = modules
    }
  }

  private static let ships: Set = ["ground", "circle", "kit", "oData", "server", "offline"]
  private static let all: Set = ships.union(["tools", "proof", "samples", "tests"])

  static let streets: [String: Street] = [
    "libraries": Street("Sources/System"),
    "ground": Street("Sources/Ground", ["libraries"]),
    "circle": Street("Sources/Circle", ["ground"]),
    "kit": Street("Sources/Kit", ["ground"]),
    "oData": Street("Sources/OData", ["libraries", "ground", "kit"]),
    "server": Street(
      "Sources/Server", ["libraries", "ground", "kit"],
      // The last: packages as services of OData, and services of OData as business systems (0122, 0123).
      and: [
        "FerryModel", "FerryWire", "FerryOData", "FerryODataAddress", "FerryODataBatch",
        "FerryODataClient", "FerryODataService",
      ]),
    // The device and the server in one process (0154).
    "offline": Street("Sources/Offline", ["ground", "circle", "kit", "oData", "server"]),
    "tools": Street("Sources/Tools", ships, and: ["FerrySimulation"]),
    "proof": Street("Sources/Proof", ships.union(["libraries"])),
    "samples": Street("Samples", ships.union(["proof"])),
    "tests": Street("Tests", all),
  ]

  /// The street of each list in Package.swift. What Linux alone has stands in a list of its own.
  static let lists: [String: String] = [
    "clientLibraries": "libraries", "serverLibraries": "libraries", "ground": "ground",
    "circle": "circle", "kit": "kit", "oData": "oData", "server": "server",
    "linuxServer": "server", "offline": "offline", "tools": "tools", "linuxTools": "tools",
    "proof": "proof",
    "linuxProof": "proof", "samples": "samples", "linuxSamples": "samples",
    "testTargets": "tests", "linuxTests": "tests",
  ]

  /// Each touches one thing outside.
  static let hands: Set = [
    "FerryCompression", "FerryCrypto", "FerrySQLite", "FerryHTTPClient", "FerryFaultVFS",
    "FerryFaultFiles", "FerryPasswords", "FerryPostgreSQL", "FerryHTTPServer",
    "FerryMariaDB",
  ]

  /// No hand, and has a C library all the same: it parses, and opens nothing.
  static let parsers: Set = ["FerryOData"]

  /// Modules that must not reach each other, in either direction.
  static let strangers = [("FerryOData", "FerryModel"), ("Ferry", "FerryServer")]

  static func violations(in map: PackageMap) -> [Violation] {
    map.targets.flatMap { target in street(of: target, in: map) }
      + oneHandPerLibrary(in: map) + strangersMeet(in: map) + phone(in: map)
  }

  private static func street(of target: PackageMap.Target, in map: PackageMap) -> [Violation] {
    let rule = "a street imports only what its row in StreetRules names"
    guard let name = lists[target.section], let own = streets[name] else {
      return [
        violation(
          target, rule, "\(target.name) stands in no street",
          cure: "put its line into one of the lists: \(lists.keys.sorted().joined(separator: ", "))"
        )
      ]
    }
    var found: [Violation] = []
    if target.kind != .plugin, !target.path.hasPrefix(own.folder + "/") {
      found.append(
        violation(
          target, "the folder of a target is in its street",
          "\(target.name) of \(name) is in \(target.path)",
          cure: "move it below \(own.folder), or its line into the list of the other street"))
    }
    for dependency in target.dependencies {
      guard let other = map.target(named: dependency) else {
        found.append(
          violation(
            target, rule, "\(target.name) names \(dependency), which is no target",
            cure: "correct the name"))
        continue
      }
      if let fault = arrow(from: target, name, own, to: other) { found.append(fault) }
    }
    return found
  }

  private static func arrow(
    from target: PackageMap.Target, _ name: String, _ own: Street, to other: PackageMap.Target
  ) -> Violation? {
    if [.library, .native].contains(other.kind), !hands.union(parsers).contains(target.name) {
      return violation(
        target, "only hands touch C libraries", "\(target.name) names \(other.name)",
        cure: "use the hand that has \(other.name)")
    }
    let street = lists[other.section] ?? ""
    if street == name {
      guard name != "tests", other.line > target.line else { return nil }
      return violation(
        target, "a module names the modules above it in its street",
        "\(target.name) names \(other.name), which stands below it",
        cure: "move what both need into a module above both")
    }
    if own.streets.contains(street) || own.modules.contains(other.name) { return nil }
    return violation(
      target, "a street imports only what its row in StreetRules names",
      "\(target.name) (\(name)) names \(other.name) (\(street))",
      cure: "move what both need into a street that both may import")
  }

  private static func oneHandPerLibrary(in map: PackageMap) -> [Violation] {
    map.libraries.sorted().flatMap { library in
      map.targets.filter { $0.dependencies.contains(library) }.dropFirst().map { second in
        violation(
          second, "a C library is imported by one module",
          "\(second.name) is the second with \(library)",
          cure: "use the module that has it, and give that one what is missing")
      }
    }
  }

  private static func strangersMeet(in map: PackageMap) -> [Violation] {
    strangers.flatMap { [($0.0, $0.1), ($0.1, $0.0)] }.compactMap { one, other in
      guard let target = map.target(named: one), map.closure(of: one).contains(other) else {
        return nil
      }
      return violation(
        target, "\(one) and \(other) never reach each other", "\(one) reaches \(other)",
        cure: "let a third module that may know both stand between them")
    }
  }

  private static func phone(in map: PackageMap) -> [Violation] {
    guard let client = map.target(named: "Ferry") else { return [] }
    let server = map.names(in: "serverLibraries", "server", "linuxServer")
    return map.closure(of: "Ferry").intersection(server).sorted().map {
      violation(
        client, "what ships to a phone needs nothing of the server", "Ferry reaches \($0)",
        cure: "take the way to it out of the client's modules")
    }
  }

  private static func violation(
    _ target: PackageMap.Target, _ rule: String, _ found: String, cure: String
  ) -> Violation {
    Violation(file: "Package.swift", line: target.line, rule: rule, found: found, cure: cure)
  }
}
