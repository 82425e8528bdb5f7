import FerryOData
import FerryODataAddress
import FerryODataService
import Synchronization

/// Customers and their orders in memory.
final class ListSource: ODataSource {
  static let metadata: EdmMetadata = {
    var customer = EdmStructuredType(.entity, namespace: "Shop", name: "Customer")
    customer.keys = [EdmKeyReference(name: "ID")]
    customer.properties = [
      property("ID", "Edm.String", isNullable: false), property("Name", "Edm.String"),
      property("City", "Edm.String"),
    ]
    customer.navigationProperties = [
      EdmNavigationProperty("Orders", EdmTypeReference("Shop.Order", isCollection: true))
    ]
    var order = EdmStructuredType(.entity, namespace: "Shop", name: "Order")
    order.keys = [EdmKeyReference(name: "Number")]
    order.properties = [
      property("Number", "Edm.Int32", isNullable: false), property("Customer_ID", "Edm.String"),
      property("Total", "Edm.Decimal"), property("Paid", "Edm.Boolean"),
      property("Day", "Edm.Date"),
    ]
    var back = EdmNavigationProperty("Customer", EdmTypeReference("Shop.Customer"))
    back.constraints = [EdmReferentialConstraint(property: "Customer_ID", referencedProperty: "ID")]
    order.navigationProperties = [back]
    var schema = EdmSchema(namespace: "Shop")
    schema.entityTypes = [customer, order]
    schema.containers = [
      EdmContainer(
        namespace: "Shop", name: "Container",
        entitySets: [
          EdmEntitySet(
            name: "Customers", entityType: "Shop.Customer",
            bindings: [EdmNavigationBinding(path: "Orders", target: "Orders")]),
          EdmEntitySet(
            name: "Orders", entityType: "Shop.Order",
            bindings: [EdmNavigationBinding(path: "Customer", target: "Customers")]),
        ])
    ]
    return EdmMetadata(version: .v4, schemas: [schema])
  }()

  private static func property(
    _ name: String, _ type: String, isNullable: Bool = true
  ) -> EdmProperty {
    var property = EdmProperty(name, EdmTypeReference(type))
    property.facets.isNullable = isNullable
    return property
  }

  struct State {
    /// By position, which grows with the order of the rows.
    var sets: [String: [(position: String, entry: ODataEntry)]] = [:]
    var writes: [ODataWrite] = []
    /// How many pages were asked for.
    var pages: Int = 0
  }

  let state: Mutex<State>

  init(customers: Int, orders: Int) {
    var sets: [String: [(position: String, entry: ODataEntry)]] = [:]
    sets["Customers"] = (0..<customers).map { number in
      var entry = ODataEntry(
        type: "Shop.Customer",
        [
          "ID": .string("C\(number)"), "Name": .string("Name \(number)"),
          "City": number % 2 == 0 ? .string("Rome") : .null,
        ])
      entry.etag = "W/\"\(number)\""
      return (ListSource.position(number), entry)
    }
    sets["Orders"] = (0..<orders).map { number in
      var entry = ODataEntry(
        type: "Shop.Order",
        [
          "Number": .int32(Int32(number)),
          "Customer_ID": .string("C\(number % max(1, customers))"),
          "Total": .decimal(EdmDecimal(Int64(number * 10))), "Paid": .boolean(number % 3 == 0),
          "Day": EdmDate(year: 2024, month: 1, day: UInt8(1 + number % 28)).map { .date($0) }
            ?? .null,
        ])
      entry.etag = "W/\"1\""
      return (ListSource.position(number), entry)
    }
    state = Mutex(State(sets: sets))
  }

  static func position(_ number: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, 8 - text.count)) + text
  }

  func parts(of query: ODataSourceQuery) -> ODataQueryParts { [] }

  func page(
    _ query: ODataSourceQuery, after position: String?, count: Int
  ) async throws(ODataRefusal) -> ODataSourcePage {
    state.withLock { state in
      state.pages += 1
      let behind = (state.sets[query.set.name] ?? []).filter { $0.position > position ?? "" }
      return ODataSourcePage(
        behind.prefix(count).map { ODataSourceRow($0.entry, position: $0.position) },
        isLast: behind.count <= count)
    }
  }

  func entry(
    _ set: EdmEntitySet, key: ODataProperties
  ) async throws(ODataRefusal) -> ODataEntry? {
    state.withLock { state in
      state.sets[set.name]?.first { row in key.allSatisfy { row.entry[$0.name] == $0.value } }?
        .entry
    }
  }

  func related(
    _ entries: [ODataEntry], of set: EdmEntitySet, by navigation: EdmNavigationProperty, limit: Int
  ) async throws(ODataRefusal) -> [[ODataEntry]] {
    state.withLock { state in
      entries.map { entry in
        navigation.name == "Orders"
          ? state.sets["Orders"]?.map(\.entry).filter { $0["Customer_ID"] == entry["ID"] } ?? []
          : state.sets["Customers"]?.map(\.entry).filter { $0["ID"] == entry["Customer_ID"] } ?? []
      }
    }
  }

  func entries(
    _ set: EdmEntitySet, keys: [ODataProperties]
  ) async throws(ODataRefusal) -> [ODataEntry?] {
    var found: [ODataEntry?] = []
    for key in keys { found.append(try await entry(set, key: key)) }
    return found
  }

  /// The number of the writes before it, and the query.
  func mark(_ set: EdmEntitySet, query: String) async throws(ODataRefusal) -> String? {
    state.withLock { "\($0.writes.count)-\(query.utf8.reduce(0) { $0 &* 31 &+ Int($1) })" }
  }

  func changes(
    _ set: EdmEntitySet, query: String, since mark: String, limit: Int
  ) async throws(ODataRefusal) -> ODataSourceChanges {
    let now = try await self.mark(set, query: query) ?? ""
    let parts = mark.split(separator: "-", maxSplits: 1).map(String.init)
    guard parts.count == 2, now.hasSuffix("-" + parts[1]), let start = Int(parts[0]) else {
      return .lost("It is of another query.")
    }
    let writes = state.withLock { $0.writes }
    guard writes.count - start <= limit else { return .lost("There are too many.") }
    let name = set.name == "Orders" ? "Number" : "ID"
    let keys = writes[start...].filter { $0.set.name == set.name }.map { write in
      write.key.isEmpty
        ? ODataProperties([ODataProperty(name, write.properties[name] ?? .null)]) : write.key
    }
    return .changed(keys, mark: now)
  }

  func write(_ write: ODataWrite) async throws(ODataRefusal) -> ODataWriteResult {
    try state.withLock { state throws(ODataRefusal) in
      state.writes.append(write)
      if write.properties["Name"] == .string("refuse") {
        throw ODataRefusal(412, "rule", "The name is refused.", target: "Name")
      }
      if write.patience == .zero { return .pending("Customers.17") }
      var rows = state.sets[write.set.name] ?? []
      let index = rows.firstIndex { row in
        !write.key.isEmpty && write.key.allSatisfy { row.entry[$0.name] == $0.value }
      }
      guard write.kind != .delete else {
        if let index { rows.remove(at: index) }
        state.sets[write.set.name] = rows
        return .done(nil, key: write.key)
      }
      var entry = index.map { rows[$0].entry } ?? ODataEntry(type: write.set.entityType)
      for property in write.properties { entry[property.name] = property.value }
      entry.etag = "W/\"new\""
      if let index {
        rows[index].entry = entry
      } else {
        rows.append((ListSource.position(1_000_000 + rows.count), entry))
      }
      state.sets[write.set.name] = rows
      let name = write.set.name == "Orders" ? "Number" : "ID"
      return .done(entry, key: ODataProperties([ODataProperty(name, entry[name] ?? .null)]))
    }
  }

  /// All of them, or the lists are as before.
  func write(_ writes: [ODataWrite]) async throws(ODataRefusal) -> [ODataWriteResult] {
    let before = state.withLock { $0.sets }
    var results: [ODataWriteResult] = []
    do throws(ODataRefusal) {
      for write in writes { results.append(try await self.write(write)) }
    } catch {
      state.withLock { $0.sets = before }
      throw error
    }
    return results
  }

  func repeated(_ write: ODataWrite) async throws(ODataRefusal) -> ODataRepetition? { nil }

  func result(of pending: String) async throws(ODataRefusal) -> ODataWriteResult {
    .pending(pending)
  }
}
