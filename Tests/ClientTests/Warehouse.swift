import Ferry
import FerryHTTPClient
import FerryModel
import FerryReference
import FerryWorld
import Foundation

@testable import Ferry

/// Goods, their makers and their stock: a package with attributes of most types, for queries.
enum Warehouse {
  static func package(searched: [String] = ["name", "text"]) -> Package {
    Package(
      name: "Warehouse", version: "1.0", entities: [Maker.entity, Article.described(searched)],
      groups: [SynchronizationGroup(name: "default")])
  }
}

struct Maker: BusinessObject {
  static let entity = Entity(
    name: "Maker", table: "makers",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "name", column: "name", type: .string, isNullable: false),
      Attribute(name: "city", column: "city", type: .string, isNullable: true),
      Attribute(name: "owner", column: "owner", type: .long, isNullable: true),
    ], key: [0], keyOrigin: .app,
    relationships: [
      Relationship(
        name: "parent", target: "Maker", attributes: ["owner"], targetAttributes: ["id"],
        inverse: "daughters")
    ], operations: [.create, .update, .delete], partition: nil, group: "default")
  var record: ObjectRecord

  enum Attributes {
    static let id = AttributeOf<Maker, Int64>("id", 0)
    static let name = AttributeOf<Maker, String>("name", 1)
    static let city = AttributeOf<Maker, String?>("city", 2)
    static let owner = AttributeOf<Maker, Int64?>("owner", 3)
    static let parent = RelationshipOf<Maker, Maker>("parent")
    static let articles = RelationshipOf<Maker, Article>("articles", inverseOf: "maker")
  }

  var id: Int64 { record.get(0) }
  var name: String { record.get(1) }
  func articles() throws(FerryError) -> [Article] { try record.referring(by: "maker") }
}

struct Article: BusinessObject {
  static let entity = described(["name", "text"])

  static func described(_ searched: [String]) -> Entity {
    let attributes: [(String, AttributeType, Bool)] = [
      ("id", .long, false), ("makerID", .long, true), ("name", .string, false),
      ("text", .string, true), ("price", .decimal, true), ("weight", .double, true),
      ("since", .date, true), ("isSold", .boolean, false), ("serial", .integer, true),
    ]
    return Entity(
      name: "Article", table: "articles",
      attributes: attributes.map { name, type, isNullable in
        Attribute(
          name: name, column: name, type: type, isNullable: isNullable,
          fullText: searched.contains(name))
      }, key: [0], keyOrigin: .app,
      relationships: [
        Relationship(
          name: "maker", target: "Maker", attributes: ["makerID"], targetAttributes: ["id"],
          inverse: "articles")
      ], operations: [.create, .update, .delete], partition: nil, group: "default")
  }

  var record: ObjectRecord

  enum Attributes {
    static let id = AttributeOf<Article, Int64>("id", 0)
    static let makerID = AttributeOf<Article, Int64?>("makerID", 1)
    static let name = AttributeOf<Article, String>("name", 2)
    static let text = AttributeOf<Article, String?>("text", 3)
    static let price = AttributeOf<Article, Decimal?>("price", 4)
    static let weight = AttributeOf<Article, Double?>("weight", 5)
    static let since = AttributeOf<Article, LocalDate?>("since", 6)
    static let isSold = AttributeOf<Article, Bool>("isSold", 7)
    static let serial = AttributeOf<Article, Decimal?>("serial", 8)
    static let maker = RelationshipOf<Article, Maker>("maker")
  }

  var id: Int64 { record.get(0) }
  var name: String {
    get { record.get(2) }
    set { record.set(2, newValue) }
  }
  var price: Decimal? {
    get { record.get(4) }
    set { record.set(4, newValue) }
  }
  func maker() throws(FerryError) -> Maker? { try record.related("maker") }
}

extension Warehouse {
  /// Where there is one maker.
  static func stocked() -> Shore {
    let shore = Shore(package())
    shore.put(Maker.entity, [.integer(1), .text("Ada"), .text("Berlin"), .null])
    return shore
  }
}

extension FerryDatabase {
  /// Logs in, subscribes and downloads what there is.
  func start() async throws {
    try await onlineLogin(user: "nancy", password: "p")
    try subscribe()
    try await synchronize()
  }
}

/// A database of that package in a temporary folder, whose server cannot be reached.
final class Depot {
  let folder: URL
  let database: FerryDatabase
  let transport: ShoreTransport
  let model: Package

  init(
    key: DatabaseKey? = nil, model: Package = Warehouse.package(),
    handler: (any CallbackHandler)? = nil, shore: sending Shore? = nil,
    silent: Bool = false,
    decide: @escaping ShoreTransport.Decide = { shore, operation in shore.accept(operation.id) }
  ) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    self.model = model
    transport = ShoreTransport(shore ?? Shore(model), decide: decide)
    let world = World(clock: SystemClock(), chance: SystemChance(), log: SilentLog())
    // These tests submit by themselves.
    var session = SessionSettings()
    // Beside tests that keep every thread busy an answer in this process may take as long.
    session.silence = .seconds(600)
    session.submitsAutomatically = false
    database = FerryDatabase(
      try Store(
        path: folder.appendingPathComponent("depot.db").path, model: model, world: world,
        durability: .application, key: key),
      ConnectionProfile(server: "http://depot", session: session), handler,
      silent ? SilentTransport() : transport, world)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var path: String { database.store.path }

  func maker(_ id: Int64, _ name: String, _ city: String?, owner: Int64? = nil) throws {
    var record = ObjectRecord(Maker.entity, in: database)
    record.set(0, id)
    record.set(1, name)
    record.set(2, city)
    record.set(3, owner)
    var maker = Maker(record: record)
    try maker.create()
  }

  /// Two owned by the first; the third lives nowhere.
  func threeMakers() throws {
    try maker(1, "Ada", "Berlin")
    try maker(2, "Bo", "Bremen", owner: 1)
    try maker(3, "Cy", nil, owner: 1)
  }

  @discardableResult
  func article(
    _ id: Int64, _ name: String, maker: Int64? = nil, text: String? = nil, price: Decimal? = nil,
    weight: Double? = nil, since: String? = nil, isSold: Bool = true, serial: String? = nil
  ) throws -> Article {
    var record = ObjectRecord(model.entity(named: "Article") ?? Article.entity, in: database)
    record.set(0, id)
    record.set(1, maker)
    record.set(2, name)
    record.set(3, text)
    record.set(4, price)
    record.set(5, weight)
    record.set(6, since.flatMap { LocalDate($0) })
    record.set(7, isSold)
    if let serial { record.set(8, Decimal(string: serial)) }
    var article = Article(record: record)
    try article.create()
    return article
  }

  /// Statements prepared and begun so far by all readers together: by the database's own work, too.
  func counts(readers: Int = 6) throws(FerryError) -> (preparations: Int, executions: Int) {
    guard readers > 0 else { return (0, 0) }
    return try database.store.read { connection throws(FerryError) in
      let own = (connection.preparations, connection.executions)
      // A read within a read takes the next reader.
      let others = try counts(readers: readers - 1)
      return (own.0 + others.preparations, own.1 + others.executions)
    }
  }
}

/// A network that takes everything and never answers.
final class SilentTransport: Transport {
  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    if request.url.hasSuffix("/login") {
      let body = Array(#"{"accessToken":"a","refreshToken":"r","expiresIn":300,"user":"n"}"#.utf8)
      return TransportResponse(status: 200, headers: [:], body: WholeBody(body))
    }
    let (silence, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in silence {}
    continuation.finish()
    throw TransportError(
      code: .cancelled, message: "cancelled", hint: "none", isTransient: false,
      requestWasSent: true)
  }
}
