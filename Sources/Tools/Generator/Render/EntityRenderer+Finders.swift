import FerryModel

/// Reading by key, and the queries that the model names: each for transactions, and as an asynchronous
/// form that leaves the caller's actor.
extension EntityRenderer {
  var finders: [String] {
    ["find", "load"].flatMap { [finder($0, .plain), finder($0, .async)] }
  }

  var queries: [String] {
    entity.queries.flatMap { [query($0, .plain), query($0, .async)] }
  }

  /// `find` and `load` by the key's own attributes and types; of several, each has its label.
  private func finder(_ name: String, _ form: ReadingForm) -> String {
    let key = entity.key.map { entity.attributes[$0].name }
    let label = key.count == 1 ? "_ " : ""
    let parameters = zip(key, entity.key).map { "\(label)\($0): \(type(of: $1))" }
    let values = key.map { "\($0).value" }.joined(separator: ", ")
    let comment =
      name == "find"
      ? "/// The object with this key; nil when it is not on the device."
      : "/// The object with this key; throws `objectNotFound` when it is not on the device."
    return """
      \(comment)\(form.note)
      public static func \(name)(
        \(parameters.joined(separator: ", ")), \(prefetching), in \(local("database")): Ferry.FerryDatabase
      ) \(form.effects) -> Self\(name == "find" ? "?" : "") {
        \(form.call) Self.\(name)(
          key: Ferry.ObjectKey([\(values)]), prefetching: \(local("paths")), in: \(local("database")))
      }
      """
  }

  private var prefetching: String {
    "prefetching \(local("paths")): [any Ferry.RelationshipPath<Self>] = []"
  }

  /// A query that the model names.
  private func query(_ query: ObjectQuery, _ form: ReadingForm) -> String {
    let first = query.parameters.first?.name
    let parameters = query.parameters.map {
      "\($0.name == first ? "_ " : "")\($0.name): \(SwiftLiteral.type(of: $0)), "
    }
    let values = query.parameters.map { "\($0.name).value" }.joined(separator: ", ")
    let condition = query.condition.map(SwiftLiteral.comment) ?? "all of them"
    let find =
      "\(form.call) Self.query(\(SwiftLiteral.text(query.sql(of: entity, in: package))), [\(values)]"
    if query.isSingle {
      return """
        /// The first object with \(condition); nil when there is none.\(form.note)
        public static func \(query.name)(
          \(parameters.joined())prefetching paths: [any Ferry.RelationshipPath<Self>] = [],
          in database: Ferry.FerryDatabase
        ) \(form.effects) -> Self? {
          \(find), take: 1, prefetching: paths, in: database).first
        }
        """
    }
    return """
      /// The objects with \(condition).\(form.note)
      public static func \(query.name)(
        \(parameters.joined())skip: Int = 0, take: Int? = nil,
        prefetching paths: [any Ferry.RelationshipPath<Self>] = [], in database: Ferry.FerryDatabase
      ) \(form.effects) -> [Self] {
        \(find), skip: skip, take: take, prefetching: paths, in: database)
      }
      """
  }
}
