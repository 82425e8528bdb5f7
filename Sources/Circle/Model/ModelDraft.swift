/// What a model file says, right or wrong, each part with its place; the checks work on this.
struct ModelDraft {
  var place: ModelPlace
  var name: Placed<String>?
  var version: Placed<String>?
  var groups: [Placed<String>]
  var entities: [DraftEntity]
  var types: [DraftComplexType] = []
  var parameters: [DraftParameter] = []
  /// All that entities may name.
  var roles: [Placed<String>] = []

  func entity(named name: String) -> DraftEntity? { entities.first { $0.name?.content == name } }
}

struct Placed<Content> {
  let content: Content
  let place: ModelPlace
}

struct DraftEntity {
  var place: ModelPlace
  var name: Placed<String>?
  var table: Placed<String>
  var group: Placed<String>
  var attributes: [DraftAttribute]
  var key: [Placed<String>]
  /// False where the key itself could not be read and its absence was told already.
  var hasReadableKey: Bool
  var keyOrigin: Placed<KeyOrigin>
  var unique: [[Placed<String>]]
  var relationships: [DraftRelationship]
  var operations: Set<OperationKind>
  var partition: DraftPartition?
  var isClientOnly: Bool = false
  var performs: [Placed<String>]?
  var queries: [DraftQuery] = []
  var roles: [DraftPermission] = []
  /// Where the model allows blind writes; nil where it does not.
  var blindWrites: ModelPlace?
  var documentation: Placed<String>?
  var connection: Placed<String>?
  var window: DraftWindow?

  var shownName: String { name?.content ?? "without a name" }

  func attribute(named name: String) -> DraftAttribute? {
    attributes.first { $0.name?.content == name }
  }

  func relationship(named name: String) -> DraftRelationship? {
    relationships.first { $0.name?.content == name }
  }

  var attributeNames: [String] { attributes.compactMap { $0.name?.content } }
}

struct DraftAttribute {
  var place: ModelPlace
  var name: Placed<String>?
  var column: Placed<String>
  /// Nil where the type could not be read, which was told already.
  var type: AttributeType?
  var isNullable: Bool
  var maxLength: Placed<Int64>?
  var stored: Placed<StoredForm>?
  /// Nil where it is not to be found by its words.
  var fullText: ModelPlace?
  var element: Placed<String>?
  var defaultValue: Placed<AttributeValue>?
  var isClientOnly: Bool = false
  var precision: Placed<Int64>?
  var scale: Placed<Int64>?
  /// Nil where no list is written, or one that could not be read.
  var values: Placed<[AttributeValue]>?
  var documentation: Placed<String>?
}

struct DraftComplexType {
  var place: ModelPlace
  var name: Placed<String>?
  var attributes: [DraftAttribute]
}

struct DraftQuery {
  var place: ModelPlace
  var name: Placed<String>?
  var parameters: [(name: Placed<String>?, type: AttributeType?, isNullable: Bool)]
  var condition: Placed<String>?
  var order: Placed<String>?
  var isSingle: Bool
}

struct DraftRelationship {
  var place: ModelPlace
  var name: Placed<String>?
  var target: Placed<String>?
  var attributes: [Placed<String>]
  /// Nil: the target's key.
  var targetAttributes: [Placed<String>]?
  var inverse: Placed<String>?
  var isComposite: Bool = false
  /// Where the model allows any target; nil where it does not.
  var anyTarget: ModelPlace?
}

struct DraftParameter {
  var name: Placed<String>?
  /// Nil where the type could not be read, which was told already.
  var type: AttributeType?
  var kind: Placed<ParameterKind>?
  /// The personalization key that it is taken from.
  var from: Placed<String>?
  /// As it is written, with its place; nil where none is.
  var defaultValue: Placed<AttributeValue>?
}

struct DraftPermission {
  var permission: Permission
  var place: ModelPlace
  var roles: [Placed<String>]
}

struct DraftWindow {
  var place: ModelPlace
  var attribute: Placed<String>?
  /// In days; nil where they could not be read.
  var from: Placed<Int64>?
  var to: Placed<Int64>?
  /// In minutes.
  var at: Placed<Int64>?
  var zone: Placed<String>?
}

enum DraftPartition {
  case columns(ModelPlace, [(attribute: Placed<String>, source: PartitionSource?)])
  case through(Placed<String>)
}
