import Ferry

/// What a view has been given to read from.
package enum LiveDatabase: Sendable {
  /// No view above has given anything, which is an error of the app.
  case missing
  /// The app is opening its database.
  case awaited
  case open(FerryDatabase)

  package init(_ database: FerryDatabase?) { self = database.map(LiveDatabase.open) ?? .awaited }

  var database: FerryDatabase? {
    if case .open(let database) = self { database } else { nil }
  }
}
