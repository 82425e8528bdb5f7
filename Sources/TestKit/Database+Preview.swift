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
  /// preview saves stays a draft. Every call makes a new database.
  ///
  /// Ends the program with the reason if the rows do not fit the model, or no file can be made.
  public static func preview(
    _ package: Package, _ objects: (FerryDatabase) -> [any BusinessObject] = { _ in [] }
  ) -> FerryDatabase {
    do throws(FerryError) {
      var settings = SessionSettings()
      settings.submitsAutomatically = false
      let file = FileManager.default.temporaryDirectory.appending(
        path: "ferry-preview-\(UUID().uuidString).db")
      let database = try FerryDatabase.open(
        at: file.path, package: package,
        profile: ConnectionProfile(server: "https://preview.invalid", session: settings))
      var rows = PreviewRows(database: database)
      for object in objects(database) { try rows.add(object) }
      return database
    } catch {
      preconditionFailure("the preview cannot be made: \(error.description)")
    }
  }
}

/// Puts sample objects into the tables as downloaded rows.
private struct PreviewRows {
  let database: FerryDatabase
  /// How many rows each entity has.
  private var counts: [String: Int64] = [:]

  init(database: FerryDatabase) { self.database = database }

  mutating func add(_ object: some BusinessObject) throws(FerryError) {
    let entity = object.record.entity
    guard !entity.isClientOnly else {
      var saved = object
      return try saved.create()
    }
    counts[entity.name, default: 0] += 1
    let number = counts[entity.name] ?? 1
    var values = object.record.values
    for position in entity.key where values[position].isNull {
      let type = entity.attributes[position].type
      values[position] = type.canonical(.integer(number)) ?? .text(String(number))
    }
    try database.store.insertSample(values, of: entity)
  }
}
