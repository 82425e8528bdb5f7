import FerryHTTP
import FerryModel
import FerryWire

/// What is asked for, and what it is.
package struct ContentQuestion: Sendable {
  package let entity: String
  package let key: ObjectKey
  package let attribute: String
  /// The `If-Match` that came with it.
  package let wanted: String?
  package let stretch: ContentStretch

  package init(
    entity: String, key: ObjectKey, attribute: String, wanted: String?, stretch: ContentStretch
  ) {
    self.entity = entity
    self.key = key
    self.attribute = attribute
    self.wanted = wanted
    self.stretch = stretch
  }

  /// Of a `GET /ferry/1/content?entity=…&key=…&attribute=…`; nil where it is none.
  package init?(_ request: HTTPRequest) {
    guard let entity = request.queryValue("entity"), let key = request.queryValue("key"),
      let attribute = request.queryValue("attribute"),
      let stretch = ContentStretch(request.headers["Range"])
    else { return nil }
    self.init(
      entity: entity, key: ObjectKey(text: key), attribute: attribute,
      wanted: request.headers["If-Match"], stretch: stretch)
  }
}

/// Contents of big values that devices ask for.
extension Exchanges {
  /// Whether another piece of a content may leave that was begun earlier: the row is within the
  /// user's rights, and still names this content.
  func mayLeave(
    _ reference: BigReference, _ question: ContentQuestion, to identity: Identity
  ) throws(ServerError) -> Bool {
    guard case .success(let (named, _, _)) = try self.reference(question, for: identity) else {
      return false
    }
    return named == reference
  }

  /// What the cache says of a big value, if this user may have its row, and it is the one that the
  /// device wants.
  func reference(
    _ question: ContentQuestion, for identity: Identity
  ) throws(ServerError) -> Result<(BigReference, Entity, Int), ContentRefusal> {
    guard accounts.mayUsePackage(identity) else { return .failure(.noPackage) }
    let nothing = ContentRefusal(
      status: 404, code: "notFound",
      message: "\(question.entity) \(question.key) has no \(question.attribute) for this user",
      hint: "Synchronize: the object was deleted, or the user no longer has it.")
    guard let entity = package.entity(named: question.entity),
      let place = rules.position(of: entity.name),
      let position = entity.position(of: question.attribute),
      entity.attributes[position].type.isBig
    else { return .failure(nothing) }
    let rights = Rights(
      rules: rules, user: identity.user, roles: accounts.grants(of: identity).roles,
      claims: accounts.grants(of: identity).claims)
    let value = try guarded { () throws(StoreError) -> AttributeValue? in
      guard let row = try cache.row(RowName(place, question.key)), !row.isDeleted,
        let number = row.partition, let partition = try directory.place(of: number),
        rights.include(partition)
      else { return nil }
      return try cache.values(of: row)[position]
    }
    guard let reference = value?.bigReference else { return .failure(nothing) }
    if let wanted = question.wanted, wanted != "\"\(reference)\"" {
      return .failure(
        ContentRefusal(
          status: 412, code: "otherContent",
          message: "the content of \(question.attribute) has been replaced",
          hint: "Synchronize, and request the one that the row names then."))
    }
    guard question.stretch.start <= reference.sizeBytes else {
      return .failure(
        ContentRefusal(
          status: 416, code: "badRange",
          message: "there is no byte \(question.stretch.start) in \(reference.sizeBytes)",
          hint: "Ask for it from its beginning."))
    }
    return .success((reference, entity, position))
  }
}
