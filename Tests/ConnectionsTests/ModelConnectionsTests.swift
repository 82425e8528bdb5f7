import FerryConnections
import FerryModel
import FerryTestTraits
import Testing

@Suite("The connections of a model")
struct ModelConnectionsTests {
  private func entity(_ name: String, _ connection: String?) -> Entity {
    Entity(
      name: name, table: name,
      attributes: [Attribute(name: "id", column: "id", type: .long, isNullable: false)], key: [0],
      keyOrigin: .app, relationships: [], operations: [], partition: nil, group: "all",
      connection: connection)
  }

  private func package(_ connections: String?...) -> Package {
    Package(
      name: "Shop", version: "1.0",
      entities: connections.enumerated().map { entity("E\($0.offset)", $0.element) },
      groups: [SynchronizationGroup(name: "all")])
  }

  private func file(_ start: String = "") throws -> ConnectionsFile {
    try ConnectionsFile(
      Array(
        #"{\#(start)"connections": {"shop": {"address": "sqlite:s.db"}, "erp": {"address": "sqlite:e.db"}}}"#
          .utf8), name: "c")
  }

  private func fault(
    _ package: Package, _ file: ConnectionsFile?, _ database: String? = nil
  ) -> ConnectionsError? {
    #expect(throws: ConnectionsError.self) {
      try ModelConnections(package, file: file, database: database)
    }
  }

  @Test("Each name is found in the file; entities without one use the default")
  func found() throws {
    let both = try ModelConnections(
      package("erp", nil), file: file(#""default": "shop", "#), database: nil)
    #expect(both.description == "e.db, s.db")
    let apart = try ModelConnections(package(nil), file: nil, database: "sqlite:x.db")
    #expect(apart.description == "x.db")
  }

  @Test("A name that the file does not have is named with the nearest one")
  func unknown() throws {
    #expect(try fault(package("er"), file())?.hint == "Did you mean \"erp\"?")
    #expect(fault(package("erp"), nil, "sqlite:x")?.hint.contains("--connections-file") == true)
    #expect(try fault(package(nil), file())?.message.contains("no \"default\"") == true)
    #expect(fault(package(nil), nil)?.message == "the business database is missing")
  }

  @Test("A connection gets only the entities whose rows it has")
  func parts() {
    let package = package("erp", nil, "erp")
    #expect(package.part(of: "erp").entities.map(\.name) == ["E0", "E2"])
    #expect(package.part(of: nil).entities.map(\.name) == ["E1"])
  }
}
