import FerryJSON
import FerryModel
import FerryRESTConnector
import FerryServer

/// One message: what was changed, as a sender writes it.
///
///     {"id": "17", "entity": "Item", "key": {"id": 7}, "values": {"stock": 3}, "asOf": 12}
struct NoticeMessage: Sendable {
  /// By which a repeated message is known; nil where the sender gives none.
  let id: String?
  /// What it says; a clause where it cannot be taken.
  let reading: Result<Notice, Fault>

  struct Fault: Error, Equatable { let reason: String }

  static let longestID = 200
  private static let known = ["id", "entity", "key", "values", "deleted", "asOf", "whole"]

  init(
    _ node: JSONNode, _ package: Package, _ sender: NoticeSenders.Sender,
    versions: [String: String], id given: String? = nil
  ) {
    let id = given ?? node["id"]?.string ?? node["id"]?.integer.map(String.init)
    self.id = id
    do throws(Fault) {
      if let id, id.isEmpty || id.utf8.count > NoticeMessage.longestID {
        throw Fault(reason: "\"id\" is empty, or longer than \(NoticeMessage.longestID) bytes")
      }
      reading = .success(try NoticeMessage.notice(node, package, sender, versions))
    } catch {
      reading = .failure(error)
    }
  }

  private static func notice(
    _ node: JSONNode, _ package: Package, _ sender: NoticeSenders.Sender,
    _ versions: [String: String]
  ) throws(Fault) -> Notice {
    guard let members = node.object else { throw Fault(reason: "a message is no object") }
    var names: Set<String> = []
    for member in members {
      guard names.insert(member.key).inserted else {
        throw Fault(reason: "\"\(member.key.prefix(40))\" is there twice")
      }
      guard known.contains(member.key) else {
        throw Fault(
          reason: "\"\(member.key.prefix(40))\" is not known; a message has "
            + known.joined(separator: ", "))
      }
    }
    guard let name = node["entity"]?.string else { throw Fault(reason: "\"entity\" is missing") }
    // The same for one that is not there: a sender learns nothing of others.
    guard sender.mayName(name), let entity = package.entity(named: name), !entity.isOperation else {
      throw Fault(reason: "\(name.prefix(60)) is no entity that this sender may name")
    }
    guard let keyNode = node["key"] else { throw Fault(reason: "\"key\" is missing") }
    let key = try key(keyNode, entity)
    let content = try content(node, entity, key)
    guard let asOf = node["asOf"], !asOf.isNull else { return Notice(entity, key, content) }
    guard let attribute = versions[name], let position = entity.position(of: attribute) else {
      throw Fault(
        reason:
          "\"asOf\" needs the version attribute of \(name) (\"versions\" of the senders' file)")
    }
    guard let value = PlainValue.read(asOf, entity.attributes[position].type), !value.isNull else {
      throw Fault(reason: "\"asOf\" is no \(entity.attributes[position].type.rawValue)")
    }
    return Notice(entity, key, content, asOf: (position, value))
  }

  /// A value, a list in the key's order, or an object by the names of attributes.
  static func key(_ node: JSONNode, _ entity: Entity) throws(Fault) -> ObjectKey {
    var values: [AttributeValue] = []
    for (place, position) in entity.key.enumerated() {
      let attribute = entity.attributes[position]
      let part: JSONNode? =
        if node.object != nil {
          node[attribute.name]
        } else if let list = node.array {
          list.count == entity.key.count ? list[place] : nil
        } else {
          entity.key.count == 1 ? node : nil
        }
      guard let part, let value = PlainValue.read(part, attribute.type), !value.isNull else {
        throw Fault(
          reason: "the key has no \(attribute.name), or it is no \(attribute.type.rawValue)")
      }
      values.append(value)
    }
    return ObjectKey(values)
  }

  private static func content(
    _ node: JSONNode, _ entity: Entity, _ key: ObjectKey
  ) throws(Fault) -> Notice.Content {
    if let deleted = node["deleted"] {
      guard let isDeleted = deleted.boolean else {
        throw Fault(reason: "\"deleted\" is no boolean")
      }
      if isDeleted { return .deleted }
    }
    let values = node["values"].flatMap { $0.isNull ? nil : $0 }
    if let whole = node["whole"] {
      guard let isWhole = whole.boolean else { throw Fault(reason: "\"whole\" is no boolean") }
      guard !isWhole || values == nil else {
        throw Fault(reason: "\"whole\" has no \"values\": everything is read")
      }
      if isWhole { return .whole }
    }
    guard let values else { return .hint }
    guard let members = values.object else { throw Fault(reason: "\"values\" is no object") }
    var given: [Int: AttributeValue] = [:]
    for member in members {
      guard let position = entity.position(of: member.key) else {
        throw Fault(reason: "\(entity.name) has no attribute \(member.key.prefix(60))")
      }
      let attribute = entity.attributes[position]
      guard !attribute.type.isBig else {
        throw Fault(reason: "\(member.key) is a big value; leave it out, it is read")
      }
      guard let value = PlainValue.read(member.value, attribute.type),
        !value.isNull || attribute.isNullable
      else {
        throw Fault(reason: "\(member.key) is no \(attribute.type.rawValue)")
      }
      guard given.updateValue(value, forKey: position) == nil else {
        throw Fault(reason: "\(member.key) is there twice")
      }
    }
    try addKey(key, to: &given, entity)
    return .values(given)
  }

  /// The key is among the values; another one there is a mistake.
  static func addKey(
    _ key: ObjectKey, to values: inout [Int: AttributeValue], _ entity: Entity
  ) throws(Fault) {
    for (position, value) in zip(entity.key, key.values(of: entity) ?? []) {
      if let other = values[position], other != value {
        throw Fault(reason: "\(entity.attributes[position].name) is not what the key says")
      }
      values[position] = value
    }
  }
}
