import FerryJSON

/// What reading a model gave.
public struct ModelReading: Sendable {
  /// Nil where an error stands among the problems.
  public let package: Package?
  /// All errors and warnings, in the order of the text.
  public let problems: [ModelProblem]
  /// The business system that the model was made from, such as `sqlite:shop.db`; nil if not named.
  public let source: String?

  /// What every user gets and may write, whoever they are: warnings for `ferry check`, which a build does not
  /// repeat.
  public var openings: [ModelProblem] = []

  public var errors: [ModelProblem] { problems.filter { $0.severity == .error } }
  public var warnings: [ModelProblem] { problems.filter { $0.severity == .warning } }
}

/// Reads a model file: JSON, described by `Documentation/model.schema.json`.
///
/// Touches no file. Every mistake is reported, not just the first; only a text that is no JSON at
/// all ends with its first mistake.
public enum ModelReader {
  /// `file` is only for the places of the problems.
  public static func read(_ bytes: [UInt8], file: String) -> ModelReading {
    read(bytes, file: file) { _ in true }
  }

  /// The same on a machine that knows time zones. `isZone`: whether there is one of a name.
  package static func read(
    _ bytes: [UInt8], file: String, isZone: @escaping (String) -> Bool
  ) -> ModelReading {
    let root: JSONNode
    do {
      root = try JSONNode.parse(bytes)
    } catch {
      var findings = ModelFindings()
      findings.error(
        ModelPlace(offset: error.offset, path: ""), "the file is not valid JSON: \(error.problem)",
        cure: "Correct the text at this place, then run `ferry check` again.")
      return ModelReading(
        package: nil, problems: findings.problems(file: file, text: bytes), source: nil)
    }
    var reader = DraftReader()
    let draft = reader.package(root)
    var findings = reader.findings
    var package: Package?
    var openings = ModelFindings()
    if let draft {
      let isExact = root["source"]?.string?.hasPrefix("postgres") ?? false
      var check = ModelCheck(
        draft: draft, findings: findings, areNamesExact: isExact, isZone: isZone)
      check.run()
      findings = check.findings
      if let source = root["source"], let text = source.string {
        findings.refuseSecret(text, at: ModelPlace(offset: source.offset, path: "source"))
      }
      if !findings.hasErrors { package = draft.package() }
      if let package { findings.warnOfUnnamedValues(package, in: draft) }
      openings.warnOfOpenModel(draft)
      for entity in draft.entities {
        openings.warnOfOpenReads(entity, in: draft)
        openings.warnOfOpenWrites(entity)
        openings.warnOfAnyTargets(entity, in: draft)
        openings.warnOfBlindWrites(entity)
      }
    }
    return ModelReading(
      package: package, problems: findings.problems(file: file, text: bytes),
      source: root["source"]?.string, openings: openings.problems(file: file, text: bytes))
  }
}

extension ModelReader {
  /// Reads back what `ModelWriter` wrote, without judging it: the rules for models may have become
  /// stricter since. Nil where it cannot be read at all.
  public static func written(_ text: String) -> Package? {
    guard let root = try? JSONNode.parse(Array(text.utf8)) else { return nil }
    var reader = DraftReader()
    return reader.package(root)?.package()
  }
}

extension ModelDraft {
  /// The model in memory; nil where something needed is missing. Call it for a draft without errors.
  func package() -> Package? {
    guard let name, let version else { return nil }
    var made: [Entity] = []
    for entity in entities {
      guard let entity = entity.entity(in: self) else { return nil }
      made.append(entity)
    }
    return Package(
      name: name.content, version: version.content, entities: made,
      groups: groups.map { SynchronizationGroup(name: $0.content) },
      complexTypes: types.compactMap(\.complexType),
      parameters: parameters.compactMap(\.parameter))
  }
}

extension DraftEntity {
  fileprivate func entity(in draft: ModelDraft) -> Entity? {
    guard let name else { return nil }
    var madeAttributes: [Attribute] = []
    for attribute in attributes {
      guard let attribute = attribute.attribute else { return nil }
      madeAttributes.append(attribute)
    }
    let position = { (name: Placed<String>) in
      madeAttributes.firstIndex { $0.name == name.content }
    }
    let keyPositions = key.compactMap(position)
    guard !keyPositions.isEmpty, keyPositions.count == key.count else { return nil }
    return Entity(
      name: name.content, table: table.content, attributes: madeAttributes, key: keyPositions,
      keyOrigin: keyOrigin.content,
      relationships: relationships.compactMap { $0.relationship(in: draft) },
      operations: operations, partition: partition?.rule, group: group.content,
      unique: unique.map { $0.compactMap(position) }, ownsChildren: draft.hasParts(name.content),
      isClientOnly: isClientOnly, performs: performs?.map(\.content),
      queries: queries.compactMap(\.query),
      roles: EntityRoles(
        Dictionary(
          roles.map { ($0.permission, $0.roles.map(\.content)) }, uniquingKeysWith: +)),
      allowsBlindWrites: blindWrites != nil, documentation: documentation?.content,
      connection: connection?.content, window: window?.window)
  }
}

extension ModelDraft {
  fileprivate func hasParts(_ name: String) -> Bool {
    entities.contains { entity in
      entity.relationships.contains { $0.isComposite && $0.target?.content == name }
    }
  }
}

extension DraftAttribute {
  var attribute: Attribute? {
    guard let name, let type else { return nil }
    return Attribute(
      name: name.content, column: column.content, type: type, isNullable: isNullable,
      maxLength: maxLength.map { Int($0.content) }, stored: stored?.content,
      fullText: fullText != nil, element: element?.content, defaultValue: defaultValue?.content,
      isClientOnly: isClientOnly, precision: precision.map { Int($0.content) },
      scale: scale.map { Int($0.content) }, values: values?.content ?? [],
      documentation: documentation?.content)
  }
}

extension DraftComplexType {
  fileprivate var complexType: ComplexType? {
    name.map { ComplexType(name: $0.content, attributes: attributes.compactMap(\.attribute)) }
  }
}

extension DraftQuery {
  fileprivate var query: ObjectQuery? {
    guard let name else { return nil }
    return ObjectQuery(
      name: name.content,
      parameters: parameters.compactMap { parameter in
        guard let name = parameter.name, let type = parameter.type else { return nil }
        return ObjectQuery.Parameter(
          name: name.content, type: type, isNullable: parameter.isNullable)
      }, condition: condition?.content, order: order?.content, isSingle: isSingle)
  }
}

extension DraftRelationship {
  fileprivate func relationship(in draft: ModelDraft) -> Relationship? {
    guard let name, let target else { return nil }
    let targets = targetAttributes ?? draft.entity(named: target.content)?.key ?? []
    return Relationship(
      name: name.content, target: target.content, attributes: attributes.map(\.content),
      targetAttributes: targets.map(\.content), inverse: inverse?.content,
      isComposite: isComposite, allowsAnyTarget: anyTarget != nil)
  }
}

extension DraftWindow {
  fileprivate var window: PartitionWindow? {
    guard let attribute, let from, let to else { return nil }
    return PartitionWindow(
      attribute: attribute.content, from: Int(from.content), to: Int(to.content),
      minute: Int(at?.content ?? 0), zone: zone?.content ?? "UTC")
  }
}

extension DraftPartition {
  fileprivate var rule: PartitionRule {
    switch self {
    case .through(let name): .through(relationship: name.content)
    case .columns(_, let columns):
      .columns(
        columns.compactMap { attribute, source in
          source.map { PartitionColumn(attribute: attribute.content, source: $0) }
        })
    }
  }
}
