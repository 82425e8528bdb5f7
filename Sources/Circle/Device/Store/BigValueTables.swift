import FerryModel
import FerrySQLite
import FerryWire

/// Where the contents of big values lie: in pieces, in the device's own database, so that the
/// transaction of a row covers them and a sealed database seals them.
///
/// A row names its content by a `BigReference`; rows with equal contents share one. A content
/// without a reference is still being written.
enum BigValueTables {
  static let names: [String] = ["ferry_content", "ferry_content_piece", "ferry_upload"]

  static let statements: [String] = [
    // Numbers are never given twice: whoever reads one must not get another's bytes.
    """
    CREATE TABLE IF NOT EXISTS ferry_content (
      number INTEGER PRIMARY KEY AUTOINCREMENT, reference TEXT UNIQUE,
      size INTEGER NOT NULL DEFAULT 0, stored INTEGER NOT NULL DEFAULT 0, made INTEGER NOT NULL)
    """,
    """
    CREATE TABLE IF NOT EXISTS ferry_content_piece (
      content INTEGER NOT NULL, start INTEGER NOT NULL, bytes BLOB NOT NULL,
      PRIMARY KEY (content, start))
    """,
    // What a submitted operation sends after itself.
    """
    CREATE TABLE IF NOT EXISTS ferry_upload (
      operation TEXT NOT NULL, attribute TEXT NOT NULL, reference TEXT NOT NULL,
      done INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (operation, attribute))
    """,
  ]

  /// By which it is found whether a row still names a content.
  static func indexes(of entity: Entity) -> [String] {
    entity.bigPositions.map { position in
      let name = entity.attributes[position].name
      return "CREATE INDEX IF NOT EXISTS \(quoted("ferry_\(entity.name).\(name)")) ON "
        + "\(Schema.table(entity)) (\(quoted(name))) WHERE \(quoted(name)) IS NOT NULL"
    }
  }
}

/// Into what the contents of big values are cut, in bytes.
package struct ContentSizes: Sendable {
  /// One piece: what a crash costs a download, and all that is in memory of it.
  package var piece: Int = WireLimits.contentPieceBytes
  /// What is asked for at once.
  package var stretch: Int = WireLimits.contentStretchBytes

  package init() {}
}

/// Brings a content that is not on the device; returns when the content of this attribute, as the
/// object's row names it, is there.
///
/// Errors: `notDownloaded` where it cannot be had now; what came stays, and the next call goes on.
package typealias ContentFetcher = @Sendable (ContentPlace) async throws(FerryError) -> Void

/// Which attribute of which object a content belongs to.
package struct ContentPlace: Sendable, Hashable {
  package let entity: Entity
  package let object: Int64
  /// Among the entity's attributes.
  package let position: Int

  package init(entity: Entity, object: Int64, position: Int) {
    self.entity = entity
    self.object = object
    self.position = position
  }

  package var attribute: Attribute { entity.attributes[position] }
}
