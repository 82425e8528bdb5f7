import FerryJSON
import FerryModel
import FerrySQLite

/// A relationship of `Object`, wherever it leads: what `prefetching` takes.
public protocol RelationshipPath<Object>: Sendable {
  associatedtype Object: BusinessObject
  /// The entity that it leads to.
  static var target: Entity { get }
  var name: String { get }
  var inverse: String? { get }
}

extension RelationshipOf: RelationshipPath {
  public static var target: Entity { Target.entity }
}

/// What a relationship led to when a record was read.
package struct Prefetched: Sendable {
  /// The record's own values that refer to them: with others it leads elsewhere.
  let key: [Value]
  let records: [Record]
}

extension Record {
  /// What was read together with this record, where it still leads there.
  func prefetched(on way: Way, _ own: [Value]) -> [Record]? {
    prefetched[way.name].flatMap { $0.key == own ? $0.records : nil }
  }
}

extension Store {
  /// Reads what these records lead to, all of them with one statement, so that going there reads
  /// nothing more. What else is asked of a record is still read when it is asked.
  package func prefetch(
    _ target: Entity, _ name: String, _ inverse: String?, of records: inout [Record]
  ) throws(FerryError) {
    guard let entity = records.first?.entity else { return }
    let way =
      inverse.map { Way(back: $0, from: target, to: entity) } ?? Way(to: name, from: entity)
    // JSON has no form for bytes and keys that are; those are read one by one.
    guard !way.types.contains(.binary) else { return }
    let keys = records.map { way.key(of: $0) }
    let found = try self.records(
      target, "WHERE \(Store.isWanted(way.columns)) ORDER BY _id", [.text(Store.list(keys))])
    let there = way.columns.compactMap(target.position(of:))
    var groups: [[Value]: [Record]] = [:]
    for record in found { groups[there.map { record.value(at: $0) }, default: []].append(record) }
    for (index, key) in keys.enumerated() {
      records[index].prefetched[way.name] = Prefetched(key: key, records: groups[key] ?? [])
    }
  }

  private static func isWanted(_ columns: [String]) -> String {
    let values = columns.indices.map { "json_extract(value, '$[\($0)]')" }
    let names = columns.map(quoted).joined(separator: ", ")
    return "\(columns.count == 1 ? names : "(\(names))") IN "
      + "(SELECT \(values.joined(separator: ", ")) FROM json_each(?1))"
  }

  /// Each key once; one with a null leads nowhere.
  private static func list(_ keys: [[Value]]) -> String {
    var writer = JSONWriter()
    var seen: Set<[Value]> = []
    writer.beginArray()
    for key in keys where !key.contains(.null) && seen.insert(key).inserted { writer.row(key) }
    writer.endArray()
    return writer.text
  }
}

extension Store {
  /// Reads what a relationship leads to, together with `records`.
  package func prefetch(
    _ path: some RelationshipPath, of records: inout [Record]
  ) throws(FerryError) {
    try prefetch(type(of: path).target, path.name, path.inverse, of: &records)
  }
}
