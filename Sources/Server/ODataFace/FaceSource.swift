import FerryModel
import FerryOData
import FerryODataAddress
import FerryODataService
import FerryServer
import FerryWire

/// The rows of a package as one user may have them, for a service of OData.
///
/// Each call is judged by the user's rights of that moment. What is not in the user's partitions is not
/// there: not in a set, not by key, not behind a navigation property and not in a text of an error.
struct FaceSource: ODataSource {
  let model: FaceModel
  let desk: CallerDesk
  let caller: Caller

  func parts(of query: ODataSourceQuery) -> ODataQueryParts { [] }

  func face(_ set: EdmEntitySet) throws(ODataRefusal) -> FaceModel.Face {
    guard let face = model.face(ofSet: set.name) else {
      throw ODataRefusal(404, "notFound", "There is no set \(set.name). $metadata lists all.")
    }
    return face
  }

  /// What the server cannot do just now, or the user may not.
  static func refusal(_ error: ServerError) -> ODataRefusal {
    var status = 503
    switch error.code {
    case .revokedToken, .wrongLogin, .staleRights: status = 401
    case .badRequest: status = 404
    case .tooManyPartitions: status = 501
    case .tooManyGuesses: status = 429
    default: break
    }
    var refusal = ODataRefusal(
      status, error.code.rawValue, "\(error.message). \(error.hint)")
    if let seconds = error.retryAfterSeconds {
      refusal.headers["Retry-After"] = String(seconds)
    } else if status == 503 {
      refusal.headers["Retry-After"] = "2"
    }
    if status == 401 { refusal.headers["WWW-Authenticate"] = ODataFace.challenge }
    return refusal
  }

  /// Throws where the user may not use the package.
  func mayUse() async throws(ODataRefusal) {
    do throws(ServerError) { try await desk.check(caller) } catch {
      // As if there were none: the reason would say that the package is there.
      throw error.code == .badRequest ? ODataFace.nothing : FaceSource.refusal(error)
    }
  }

  // Reading.

  func page(
    _ query: ODataSourceQuery, after position: String?, count: Int
  ) async throws(ODataRefusal) -> ODataSourcePage {
    let face = try face(query.set)
    let place = try position.map { text throws(ODataRefusal) in try FacePosition(text).position }
    let page: CallerPage
    do throws(ServerError) {
      page = try await desk.rows(of: face.position, for: caller, after: place, count: count)
    } catch { throw FaceSource.refusal(error) }
    return ODataSourcePage(
      page.rows.map { ODataSourceRow(entry($0, face), position: FacePosition($0.position).text) },
      isLast: page.isLast)
  }

  func entry(_ row: CallerRow, _ face: FaceModel.Face) -> ODataEntry {
    var entry = ODataEntry(type: "\(model.package.name).\(face.entity.name)")
    entry.etag = FaceSource.tag(row)
    entry.properties = ODataProperties(
      face.shown.map { position in
        let attribute = face.entity.attributes[position]
        let value = model.values.edm(row.values[position], attribute)
        return ODataProperty(
          attribute.name, value ?? .null, type: model.values.type(attribute))
      })
    return entry
  }

  /// Known without the business system: the number of the transaction that wrote the row last.
  static func tag(_ row: CallerRow) -> String { "W/\"\(row.version)\"" }

  func entry(
    _ set: EdmEntitySet, key: ODataProperties
  ) async throws(ODataRefusal) -> ODataEntry? {
    let face = try face(set)
    guard let name = objectKey(key, face) else { return nil }
    return try await row(face, name).map { entry($0, face) }
  }

  func row(_ face: FaceModel.Face, _ key: ObjectKey) async throws(ODataRefusal) -> CallerRow? {
    let name = RowName(face.position, key)
    do throws(ServerError) { return try await desk.rows([name], for: caller)[name] } catch {
      throw FaceSource.refusal(error)
    }
  }

  /// Nil for a key that no row can have.
  func objectKey(_ key: ODataProperties, _ face: FaceModel.Face) -> ObjectKey? {
    var values: [AttributeValue] = []
    for position in face.entity.key {
      let attribute = face.entity.attributes[position]
      guard let given = key[attribute.name],
        let value = model.values.model(given, attribute), !value.isNull
      else { return nil }
      values.append(value)
    }
    return ObjectKey(values)
  }

  func key(_ text: ObjectKey, _ face: FaceModel.Face) -> ODataProperties {
    let values = text.values(of: face.entity) ?? []
    return ODataProperties(
      zip(face.entity.key, values).map { position, value in
        let attribute = face.entity.attributes[position]
        return ODataProperty(
          attribute.name, model.values.edm(value, attribute) ?? .null)
      })
  }

  func related(
    _ entries: [ODataEntry], of set: EdmEntitySet, by navigation: EdmNavigationProperty, limit: Int
  ) async throws(ODataRefusal) -> [[ODataEntry]] {
    let face = try face(set)
    guard let way = face.navigations.first(where: { $0.name == navigation.name }),
      let target = model.face(ofEntity: way.target)
    else {
      throw ODataRefusal(400, "unknownName", "\(set.name) has no \(navigation.name).")
    }
    let wanted = entries.map { entry in way.own.map { entry[$0] ?? .null } }
    let keyNames = target.entity.key.map { target.entity.attributes[$0].name }
    if way.others == keyNames { return try await byKey(wanted, target) }
    return try await byScan(wanted, way, target, limit: limit)
  }

  private func byKey(
    _ wanted: [[EdmValue]], _ target: FaceModel.Face
  ) async throws(ODataRefusal) -> [[ODataEntry]] {
    let keys = wanted.map { values in
      ODataProperties(
        zip(target.entity.key, values).map {
          ODataProperty(target.entity.attributes[$0].name, $1)
        })
    }
    return try await entries(target, keys: keys).map { entry in entry.map { [$0] } ?? [] }
  }

  /// Entries by their keys, in the same order; nil for each that the caller may not see.
  func entries(
    _ face: FaceModel.Face, keys: [ODataProperties]
  ) async throws(ODataRefusal) -> [ODataEntry?] {
    let names = keys.map { key in objectKey(key, face).map { RowName(face.position, $0) } }
    do throws(ServerError) {
      let rows = try await desk.rows(Array(Set(names.compactMap(\.self))), for: caller)
      return names.map { name in name.flatMap { rows[$0] }.map { entry($0, face) } }
    } catch { throw FaceSource.refusal(error) }
  }

  /// One pass over the rows of the other entity, for all entries together.
  private func byScan(
    _ wanted: [[EdmValue]], _ way: FaceModel.Navigation, _ target: FaceModel.Face, limit: Int
  ) async throws(ODataRefusal) -> [[ODataEntry]] {
    var places: [[EdmValue]: [Int]] = [:]
    for (index, values) in wanted.enumerated() where !values.contains(.null) {
      places[values, default: []].append(index)
    }
    var found = [[ODataEntry]](repeating: [], count: wanted.count)
    guard !places.isEmpty else { return found }
    var (scanned, count) = (0, 0)
    var position: CallerPosition?
    while true {
      let page: CallerPage
      do throws(ServerError) {
        page = try await desk.rows(of: target.position, for: caller, after: position, count: 500)
      } catch { throw FaceSource.refusal(error) }
      for row in page.rows {
        let entry = entry(row, target)
        let values = way.others.map { entry[$0] ?? .null }
        let indices = places[values] ?? []
        count += indices.count
        guard count <= limit else { throw tooMuch(way, target, limit) }
        for index in indices { found[index].append(entry) }
      }
      scanned += page.rows.count
      position = page.rows.last?.position
      guard !page.isLast else { return found }
      guard scanned < limit else { throw tooMuch(way, target, limit) }
    }
  }

  private func tooMuch(
    _ way: FaceModel.Navigation, _ target: FaceModel.Face, _ limit: Int
  ) -> ODataRefusal {
    ODataRefusal(
      501, "tooMuch",
      "More than \(limit) rows of \(target.set) would have to be looked at for \(way.name). Ask "
        + "\(target.set) with a $filter instead.", target: way.name)
  }
}

/// The place of a row as a text whose bytes have the same order.
struct FacePosition {
  let position: CallerPosition

  init(_ position: CallerPosition) { self.position = position }

  var text: String {
    let number = String(position.partition, radix: 16)
    return String(repeating: "0", count: max(0, 16 - number.count)) + number + position.key.text
  }

  init(_ text: String) throws(ODataRefusal) {
    guard text.utf8.count >= 16, let number = Int64(text.prefix(16), radix: 16), number >= 0 else {
      throw ODataRefusal(
        400, "badToken", "The $skiptoken is none of this service. Begin without one.",
        target: "$skiptoken")
    }
    position = CallerPosition(partition: number, key: ObjectKey(text: String(text.dropFirst(16))))
  }
}
