import FerryArguments
import FerryConnections
import FerryConnector
import FerryJSON
import FerryModel
import FerryWorld
import Foundation

/// `ferry check --connections`: asks each connection, shows what it can, and proves conditions.
struct ConnectionsCheck: Sendable {
  private let path: String
  private let file: ConnectionsFile
  private let package: Package?
  /// What came with the model, for REST services.
  private let mapping: MappingText?
  private let rows: [NamedRow]

  /// A row that the operator has named, for the proof: `Item=17` or `Line=1,2`.
  fileprivate struct NamedRow: Sendable {
    let entity: Entity
    let key: ObjectKey
  }

  /// What was found of one connection.
  fileprivate struct Finding: Sendable {
    let name: String
    let address: String
    var problems: [String] = []
    var entities: [(entity: Entity, abilities: ConnectorAbilities, isProved: Bool?)] = []
    var proofs: [(entity: Entity, proof: ConditionProof)] = []
  }

  init(_ path: String, _ package: Package?, mapping: MappingText?, rows: [String]) throws {
    self.mapping = mapping
    self.path = path
    file = try ConnectionsFile(path: path)
    self.package = package
    guard let package else {
      guard rows.isEmpty else {
        throw UsageError("--row needs a model", hint: "Write the model's file too.")
      }
      self.rows = []
      return
    }
    self.rows = try rows.map { try NamedRow($0, package) }
  }

  func run(asJSON: Bool) async throws -> ExitCode {
    // A connector blocks: it has a thread of its own.
    let findings = try await ThreadExecutor(name: "ferry-check").run {
      Result { try self.findings() }
    }.get()
    let errors = findings.reduce(0) { $0 + $1.problems.count }
    if asJSON { writeJSON(findings, errors) } else { write(findings, errors) }
    return errors == 0 ? .success : .problems
  }

  private func findings() throws -> [Finding] {
    var findings: [Finding] = []
    var proofs = try ConnectionProofs(beside: path)
    let used = try names()
    for connection in file.connections {
      var finding = Finding(name: connection.name, address: connection.database.description)
      if package == nil {
        ask(connection.database, nil, into: &finding)
      } else if let found = used.first(where: { $0.connection == connection.name }) {
        ask(connection.database, found.part, into: &finding)
      }
      for (entity, proof) in finding.proofs {
        guard case .unclear = proof else {
          proofs.add(
            ConnectionProofs.Proof(
              connection: connection.name, address: connection.address, set: entity.table,
              isHeeded: proof == .heeded, at: World.system().clock.now))
          continue
        }
      }
      findings.append(finding)
    }
    if findings.contains(where: { !$0.proofs.isEmpty }) { try proofs.write() }
    return findings
  }

  /// What the model has of each connection that it names.
  private func names() throws -> [(connection: String, part: Package)] {
    guard let package else { return [] }
    _ = try ModelConnections(package, file: file, database: nil, mapping: mapping)
    var found: [(connection: String, part: Package)] = []
    var parts: [String: Set<String?>] = [:]
    for entity in package.served.entities {
      guard let name = entity.connection ?? file.defaultName else { continue }
      parts[name, default: []].insert(entity.connection)
    }
    for (name, connections) in parts {
      let entities = package.served.entities.filter { connections.contains($0.connection) }
      found.append(
        (
          name,
          Package(
            name: package.name, version: package.version, entities: entities,
            groups: package.groups, complexTypes: package.complexTypes,
            parameters: package.parameters)
        ))
    }
    return found
  }

  private func ask(_ database: BusinessDatabase, _ part: Package?, into finding: inout Finding) {
    let part =
      part ?? Package(name: "Check", version: "1.0", entities: [], groups: [])
    let replay = ReplaySettings(remembersOperations: true, connections: 1)
    let connector: any Connector
    do throws(ConnectionsError) {
      // Without a model nobody knows what to ask of a REST service.
      if package == nil, case .rest(let service) = database {
        finding.problems = service.trouble().map { [$0.description] } ?? []
        return
      }
      connector = try database.mapped(to: package ?? part, by: mapping).connector(
        for: part, replay)
    } catch {
      finding.problems.append(error.description)
      return
    }
    do throws(ConnectorError) {
      finding.problems = try connector.mismatches(with: part).map(\.description)
      guard finding.problems.isEmpty else { return }
      for row in rows where part.entity(named: row.entity.name) != nil {
        guard let prover = connector as? any ConditionProver else {
          finding.proofs.append(
            (row.entity, .unclear("This is a database: its transactions need no proof.")))
          continue
        }
        finding.proofs.append(
          (row.entity, try prover.proveConditions(of: row.entity, key: row.key)))
      }
      let prover = connector as? any ConditionProver
      finding.entities = part.entities.map {
        ($0, connector.abilities(of: $0), prover?.areConditionsHeeded(by: $0))
      }
    } catch {
      finding.problems.append(error.description)
    }
  }
}

// MARK: What is shown

extension ConnectionsCheck {
  private func write(_ findings: [Finding], _ errors: Int) {
    for finding in findings {
      let isUnused = package != nil && finding.entities.isEmpty && finding.problems.isEmpty
      let state =
        isUnused
        ? "the model does not name it" : finding.problems.isEmpty ? "answers" : "cannot be used"
      Terminal.show("\(finding.name) (\(finding.address)): \(state)")
      for problem in finding.problems { Terminal.show("  \(problem)") }
      for (entity, abilities, isProved) in finding.entities {
        Terminal.show("  \(entity.name): \(abilities.shown(isProved))")
      }
      for (entity, proof) in finding.proofs {
        Terminal.show("  \(entity.name): \(proof.sentence)")
      }
    }
    Terminal.show(
      "\(path): " + Terminal.counted(findings.count, "connection", "connections") + ", "
        + Terminal.counted(errors, "error", "errors"))
  }

  private func writeJSON(_ findings: [Finding], _ errors: Int) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("file", path)
    writer.field("errors", errors)
    writer.key("connections")
    writer.array(findings) { writer, finding in
      writer.beginObject()
      writer.field("name", finding.name)
      writer.field("address", finding.address)
      writer.key("problems")
      writer.array(finding.problems) { $0.string($1) }
      writer.key("entities")
      writer.array(finding.entities) { writer, found in
        writer.beginObject()
        writer.field("entity", found.entity.name)
        found.abilities.write(to: &writer)
        writer.endObject()
      }
      writer.key("proofs")
      writer.array(finding.proofs) { writer, found in
        writer.beginObject()
        writer.field("entity", found.entity.name)
        writer.field("result", found.proof.name)
        if case .unclear(let reason) = found.proof { writer.field("reason", reason) }
        writer.endObject()
      }
      writer.endObject()
    }
    writer.endObject()
    Terminal.show(writer.text, asJSON: true)
  }
}

extension ConnectionsCheck.NamedRow {
  fileprivate init(_ text: String, _ package: Package) throws {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2 else {
      throw UsageError(
        "\"\(text)\" is no row", hint: "Write an entity and a key: Item=17, or Line=1,2.")
    }
    guard let entity = package.entity(named: parts[0]) else {
      throw UsageError(
        "the model has no entity \(parts[0])",
        hint: NearestWord.cure(parts[0], among: package.entities.map(\.name)))
    }
    let words =
      entity.key.count == 1
      ? [parts[1]]
      : parts[1].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    let values = zip(entity.key, words).compactMap { position, word -> AttributeValue? in
      let type = entity.attributes[position].type
      let plain: AttributeValue = Int64(word).map { .integer($0) } ?? .text(word)
      return type.canonical(plain) ?? type.canonical(.text(word))
    }
    guard values.count == entity.key.count, words.count == values.count else {
      throw UsageError(
        "\(parts[1]) is no key of \(entity.name)",
        hint: "Write " + entity.key.map { entity.attributes[$0].name }.joined(separator: ",") + ".")
    }
    self.entity = entity
    key = ObjectKey(values)
  }
}

extension ConditionProof {
  fileprivate var name: String {
    switch self {
    case .heeded: "heeded"
    case .ignored: "ignored"
    case .unclear: "unclear"
    }
  }

  fileprivate var sentence: String {
    switch self {
    case .heeded: "proved: a write under a wrong ETag was refused"
    case .ignored:
      "the service wrote under a wrong ETag. Changes whose answers are lost wait for an operator"
    case .unclear(let reason): "nothing is proved. \(reason)"
    }
  }
}

extension ConnectorAbilities {
  /// `isProved`: nil where nobody has found it out.
  fileprivate func shown(_ isProved: Bool?) -> String {
    let conditions =
      conditionalWrites
      ? "conditional writes"
      : isProved == false ? "no conditional writes" : "conditional writes not proved"
    let recall =
      switch memory {
      case .operations: "knows what it performed"
      case .requests: "knows repeated requests"
      case .probe: "lost answers are found by the row"
      case .none: "lost answers need a person"
      }
    let changes =
      switch changes {
      case .cursor: "reports changes"
      case .poll: "changes by comparison"
      case .none: "no question for changes"
      }
    return [conditions, recall, changes, atomicGroups ? "atomic groups" : "one by one"]
      .joined(separator: ", ")
  }

  fileprivate func write(to writer: inout JSONWriter) {
    writer.field("atomicGroups", atomicGroups)
    writer.field("conditionalWrites", conditionalWrites)
    let memory =
      switch memory {
      case .operations: "operations"
      case .requests: "requests"
      case .probe: "probe"
      case .none: "none"
      }
    writer.field("memory", memory)
    let changes =
      switch changes {
      case .cursor: "cursor"
      case .poll: "poll"
      case .none: "none"
      }
    writer.field("changes", changes)
    writer.field("reportsDeletes", reportsDeletes)
    writer.field("snapshots", snapshots)
  }
}
