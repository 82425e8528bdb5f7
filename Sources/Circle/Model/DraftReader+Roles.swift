import FerryJSON

extension DraftReader {
  /// Who may do what with an entity, in the order of the text.
  mutating func roles(_ fields: ModelFields) -> [DraftPermission] {
    guard let field = fields["roles"],
      let members = object(
        field.node, path: field.place.path, of: "the roles of an entity", keys: ModelKey.roles)
    else { return [] }
    return Permission.allCases.compactMap { permission in
      guard let member = members[permission.rawValue], member.node.array != nil else {
        _ = texts(members, permission.rawValue)
        return nil
      }
      return DraftPermission(
        permission: permission, place: member.place, roles: texts(members, permission.rawValue))
    }
  }
}
