public import Ferry
import FerryModel
import FerryWorld
import Foundation

extension FerryDatabase {
  /// A database with sample rows for previews of views: no server, no network, a temporary file.
  ///
  /// ```swift
  /// #Preview {
  ///   BookingList(database: .preview(Travel.package) { [Booking(passenger: "Ada", in: $0)] })
  /// }
  /// ```
  /// The rows look as if they were downloaded: nothing of them is pending. Where the business system
  /// assigns the key, each entity's rows get 1, 2, 3 in the order of the array, unless it is set. What the
  /// preview saves stays a draft. Every call makes a new database, and deletes those of previews whose
  /// process has ended.
  ///
  /// Ends the program with the reason if the rows do not fit the model: a value that it does not allow,
  /// a key that is there twice, or a reference to a row that is not among them. So it does if no file
  /// can be made.
  public static func preview(
    _ package: Package, _ objects: (FerryDatabase) -> [any BusinessObject] = { _ in [] }
  ) -> FerryDatabase {
    do throws(FerryError) {
      return try made(
        for: package, in: FileManager.default.temporaryDirectory, objects)
    } catch {
      preconditionFailure("the preview cannot be made: \(error.description)")
    }
  }

  static func made(
    for package: Package, in folder: URL, _ objects: (FerryDatabase) -> [any BusinessObject]
  ) throws(FerryError) -> FerryDatabase {
    var settings = SessionSettings()
    settings.submitsAutomatically = false
    let database = try FerryDatabase.open(
      at: PreviewFiles(folder: folder).newPath(), package: package,
      profile: ConnectionProfile(server: "https://preview.invalid", session: settings))
    var rows = PreviewRows(database: database)
    for object in objects(database) { try rows.add(object) }
    try rows.checkReferences()
    return database
  }
}

/// Puts sample objects into the tables as downloaded rows.
private struct PreviewRows {
  let database: FerryDatabase
  private var rows: [String: [[AttributeValue]]] = [:]

  init(database: FerryDatabase) { self.database = database }

  mutating func add(_ object: some BusinessObject) throws(FerryError) {
    let entity = object.record.entity
    guard !entity.isClientOnly else {
      var saved = object
      try database.save(&saved)
      rows[entity.name, default: []].append(saved.record.values)
      return
    }
    let number = Int64((rows[entity.name]?.count ?? 0) + 1)
    var values = object.record.values
    for position in entity.key where values[position].isNull {
      let type = entity.attributes[position].type
      values[position] = type.canonical(.integer(number)) ?? .text(String(number))
    }
    values = try entity.checked(values, types: database.store.model.complexTypes)
    try database.store.insertSample(values, of: entity)
    rows[entity.name, default: []].append(values)
  }

  /// A null in a reference refers to nothing, and may.
  func checkReferences() throws(FerryError) {
    for entity in database.store.model.entities {
      for relationship in entity.relationships {
        guard let target = database.store.model.entity(named: relationship.target) else { continue }
        let own = relationship.attributes.compactMap { entity.position(of: $0) }
        let theirs = relationship.targetAttributes.compactMap { target.position(of: $0) }
        let there = Set((rows[target.name] ?? []).map { row in theirs.map { row[$0] } })
        for row in rows[entity.name] ?? [] {
          let values = own.map { row[$0] }
          guard !values.contains(.null), !there.contains(values) else { continue }
          throw FerryError(
            .invalidReference,
            "\(entity.name) \(entity.key(of: row)) refers by \(relationship.name) to \(target.name) "
              + "\(values.map(\.shown).joined(separator: ", ")), which is not among the sample rows",
            hint: "Add that \(target.name), or leave the reference empty.", entity: entity.name,
            attribute: relationship.attributes.joined(separator: ", "))
        }
      }
    }
  }
}
