import FerryJSON

/// Walks the tree of a model file, keeps what is well formed and notes what is not.
struct DraftReader {
  var findings = ModelFindings()

  mutating func package(_ node: JSONNode) -> ModelDraft? {
    guard let fields = object(node, path: "", of: "the model", keys: ModelKey.package) else {
      return nil
    }
    let groups =
      fields["groups"] == nil
      ? [Placed(content: "default", place: ModelPlace(offset: node.offset, path: ""))]
      : texts(fields, "groups")
    var draft = ModelDraft(
      place: ModelPlace(offset: node.offset, path: ""), name: text(fields, "name"),
      version: text(fields, "version"), groups: groups, entities: [])
    let firstGroup = groups.first?.content ?? "default"
    for (node, path) in elements(fields, "entities") {
      if let entity = entity(node, path, group: firstGroup) { draft.entities.append(entity) }
    }
    for (node, path) in elements(fields, "types") {
      if let type = complexType(node, path) { draft.types.append(type) }
    }
    for (node, path) in elements(fields, "parameters") {
      if let parameter = packageParameter(node, path) { draft.parameters.append(parameter) }
    }
    draft.roles = texts(fields, "roles")
    return draft
  }

  private mutating func entity(_ node: JSONNode, _ path: String, group: String) -> DraftEntity? {
    guard let fields = object(node, path: path, of: "an entity", keys: ModelKey.entity) else {
      return nil
    }
    let place = ModelPlace(offset: node.offset, path: path)
    let name = text(fields, "name")
    let origin = choice(fields, "keyOrigin", of: KeyOrigin.self)
    var entity = DraftEntity(
      place: place, name: name,
      table: text(fields, "table") ?? name ?? Placed(content: "", place: place),
      group: text(fields, "group") ?? Placed(content: group, place: place), attributes: [],
      key: texts(fields, "key"), hasReadableKey: fields["key"]?.node.array != nil,
      keyOrigin: origin ?? Placed(content: .app, place: place), unique: [], relationships: [],
      operations: operations(fields), partition: nil)
    for (node, path) in elements(fields, "attributes") {
      if let attribute = attribute(node, path) { entity.attributes.append(attribute) }
    }
    for (node, path) in elements(fields, "relationships") {
      if let relationship = relationship(node, path) { entity.relationships.append(relationship) }
    }
    for (node, path) in elements(fields, "unique") { entity.unique.append(texts(node, path)) }
    entity.isClientOnly = flag(fields, "clientOnly")
    if fields["performs"] != nil {
      entity.performs = texts(fields, "performs")
      if fields["operations"] == nil { entity.operations = [.create] }
    }
    for (node, path) in elements(fields, "queries") {
      if let query = query(node, path) { entity.queries.append(query) }
    }
    entity.roles = roles(fields)
    if flag(fields, "blindWrites") { entity.blindWrites = fields["blindWrites"]?.place }
    entity.documentation = text(fields, "documentation")
    entity.connection = text(fields, "connection")
    // What stays on the device comes last, so that places on the wire are places on the device.
    entity.attributes =
      entity.attributes.filter { !$0.isClientOnly } + entity.attributes.filter(\.isClientOnly)
    if let field = fields["partition"] {
      entity.partition = partition(field.node, field.place.path)
    }
    if let field = fields["window"] { entity.window = window(field.node, field.place.path) }
    return entity
  }

  mutating func attribute(
    _ node: JSONNode, _ path: String, of subject: String = "an attribute",
    keys: [ModelKey] = ModelKey.attribute
  ) -> DraftAttribute? {
    guard let fields = object(node, path: path, of: subject, keys: keys) else { return nil }
    let place = ModelPlace(offset: node.offset, path: path)
    let name = text(fields, "name")
    let type = choice(fields, "type", of: AttributeType.self)?.content
    return DraftAttribute(
      place: place, name: name,
      column: text(fields, "column") ?? name ?? Placed(content: "", place: place), type: type,
      isNullable: flag(fields, "nullable"), maxLength: number(fields, "maxLength"),
      stored: choice(fields, "stored", of: StoredForm.self),
      fullText: flag(fields, "fullText") ? fields["fullText"]?.place : nil,
      element: text(fields, "of"), defaultValue: defaultValue(fields, type, of: name),
      isClientOnly: flag(fields, "clientOnly"), precision: number(fields, "precision"),
      scale: number(fields, "scale"), values: values(fields, type, of: name),
      documentation: text(fields, "documentation"))
  }

  private mutating func relationship(_ node: JSONNode, _ path: String) -> DraftRelationship? {
    guard
      let fields = object(node, path: path, of: "a relationship", keys: ModelKey.relationship)
    else { return nil }
    return DraftRelationship(
      place: ModelPlace(offset: node.offset, path: path), name: text(fields, "name"),
      target: text(fields, "target"), attributes: texts(fields, "attributes"),
      targetAttributes: fields["targetAttributes"] == nil ? nil : texts(fields, "targetAttributes"),
      inverse: text(fields, "inverse"), isComposite: flag(fields, "composite"),
      anyTarget: flag(fields, "anyTarget") ? fields["anyTarget"]?.place : nil)
  }

  private mutating func partition(_ node: JSONNode, _ path: String) -> DraftPartition? {
    let place = ModelPlace(offset: node.offset, path: path)
    guard let fields = object(node, path: path, of: "a partition rule", keys: ModelKey.partition)
    else { return nil }
    switch (fields["columns"], fields["through"]) {
    case (let columns?, nil):
      guard let members = columns.node.object else {
        findings.error(
          columns.place, "the columns of a partition rule must be an object",
          cure: "Write { \"columns\": { \"attribute\": \"claim:name\" } }.")
        return nil
      }
      return .columns(columns.place, members.map { column($0, columns.place.path) })
    case (nil, _?): return text(fields, "through").map(DraftPartition.through)
    default:
      findings.error(
        place, "a partition rule must have either \"columns\" or \"through\"",
        cure: "Keep one: the row's own attributes, or the relationship to the object it follows.")
      return nil
    }
  }

  private mutating func column(
    _ member: JSONNode.Member, _ path: String
  ) -> (attribute: Placed<String>, source: PartitionSource?) {
    let place = ModelPlace(offset: member.keyOffset, path: "\(path).\(member.key)")
    let source = member.value.string.flatMap { PartitionSource($0) }
    if source == nil {
      findings.error(
        ModelPlace(offset: member.value.offset, path: place.path),
        "the partition column \"\(member.key)\" names no source for its value",
        cure:
          "Write \"claim:<name>\" for a claim of the user, \"parameter:<name>\" for what the device "
          + "chooses, \"parameter:<name> within claim:<name>\" for a choice among claims, "
          + "\"constant:<value>\" for one value without a comma, or \"open\" if everyone gets all.")
    }
    return (Placed(content: member.key, place: place), source)
  }

  private mutating func operations(_ fields: ModelFields) -> Set<OperationKind> {
    guard fields["operations"] != nil else { return Set(OperationKind.allCases) }
    var operations: Set<OperationKind> = []
    for text in texts(fields, "operations") {
      if let kind = kind(text, of: OperationKind.self) { operations.insert(kind) }
    }
    return operations
  }
}
