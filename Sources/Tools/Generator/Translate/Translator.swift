import FerryModel

/// Makes a model from the schema of a database. The same schema and values give the same model.
package struct Translator {
  let schema: DatabaseSchema
  let options: TranslationOptions
  var notes: [Note] = []
  /// The entities so far, in the order of their tables.
  var drafts: [EntityDraft] = []

  /// An entity while it is made, with its table at hand.
  struct EntityDraft {
    let table: DatabaseSchema.Table
    let name: String
    var attributes: [Attribute]
    var key: [Int]
    var keyOrigin: KeyOrigin
    var operations: Set<OperationKind>
    var unique: [[Int]] = []
    var relationships: [Relationship] = []
    var partition: PartitionRule?
    var group: String = "default"
    /// Names of members that are taken, in lower case.
    var members: Set<String>

    func position(ofColumn column: String) -> Int? {
      attributes.firstIndex { $0.column == column }
        ?? attributes.firstIndex { $0.column.lowercased() == column.lowercased() }
    }

    /// At most one object refers to another by it.
    func isOneToOne(_ relationship: Relationship) -> Bool {
      let names = Set(relationship.attributes)
      return ([key] + unique).contains { set in
        set.allSatisfy { names.contains(attributes[$0].name) }
      }
    }

    var keyNames: [String] { key.map { attributes[$0].name } }
  }

  /// Decides names, types, keys and groups; throws when no table can be taken.
  package static func translate(
    _ schema: DatabaseSchema, options: TranslationOptions
  ) throws(GeneratorError) -> Translation {
    var translator = Translator(schema: schema, options: options)
    try translator.makeEntities()
    guard !translator.drafts.isEmpty else {
      let reasons = translator.notes.prefix(3).map(\.description).joined(separator: " ")
      throw GeneratorError(
        "no table of the database can be an entity",
        hint: reasons.isEmpty ? "Name a database that has tables." : reasons)
    }
    translator.makeRelationships()
    try translator.makeGroups()
    try translator.makePartitions()
    try translator.closeWhatEveryoneGets()
    try translator.checkKept()
    return translator.result()
  }

  private init(schema: DatabaseSchema, options: TranslationOptions) {
    self.schema = schema
    self.options = options
  }

  private mutating func result() -> Translation {
    var groups: [String] = []
    for name in options.groups.map(\.name) + drafts.map(\.group)
    where !groups.contains(name) && drafts.contains(where: { $0.group == name }) {
      groups.append(name)
    }
    let entities = drafts.map {
      Entity(
        name: $0.name, table: $0.table.name, attributes: $0.attributes, key: $0.key,
        keyOrigin: $0.keyOrigin, relationships: $0.relationships, operations: $0.operations,
        partition: $0.partition, group: $0.group, unique: $0.unique,
        documentation: DocumentationText.of(comment: $0.table.comment))
    }
    var taken = Set(drafts.map { $0.name.lowercased() })
    let package = Package(
      name: packageName(taken: &taken), version: options.version, entities: entities,
      groups: groups.map(SynchronizationGroup.init(name:)))
    tellUnnamedValues(package)
    let ordered = Note.Kind.allCases.flatMap { kind in notes.filter { $0.kind == kind } }
    return Translation(package: package, notes: ordered)
  }

  private mutating func tellUnnamedValues(_ package: Package) {
    for entity in package.entities {
      for (position, names) in package.listedNames(of: entity).sorted(by: { $0.key < $1.key }) {
        guard case .failure(let clash) = names else { continue }
        notes.append(
          Note(
            .told, "\(entity.table).\(entity.attributes[position].column)",
            "its list of values gets no Swift type: \(clash.problem)", cure: clash.cure))
      }
    }
  }

  private func packageName(taken: inout Set<String>) -> String {
    let name = Naming.typeName(options.name, fallback: "Business")
    let wanted = taken.contains(name.lowercased()) ? name + "Package" : name
    return Naming.free(wanted, taken: &taken, clash: ReservedName.clashOfType)
  }

  // What is asked for by name is found by table first, then by entity.
  func draftIndex(_ name: String) throws(GeneratorError) -> Int {
    if let index = drafts.firstIndex(where: { $0.table.name == name })
      ?? drafts.firstIndex(where: { $0.table.name.lowercased() == name.lowercased() })
      ?? drafts.firstIndex(where: { $0.name.lowercased() == name.lowercased() })
    {
      return index
    }
    let isLeftOut = notes.first {
      $0.kind == .leftOut && $0.subject.lowercased() == name.lowercased()
    }
    throw GeneratorError(
      "\"\(name)\" is not an entity of the model",
      hint: isLeftOut.map { "It was left out: \($0.what). \($0.cure)" }
        ?? NearestWord.cure(name, among: drafts.map(\.table.name)))
  }

  private mutating func makeGroups() throws(GeneratorError) {
    for request in options.groups {
      for name in request.entities { drafts[try draftIndex(name)].group = request.name }
    }
  }
}
