import FerryHTTP
import FerryOData
import FerryODataAddress

/// Single values, and the addresses of entities.
extension ODataWork {
  func value(
    _ property: ODataProperty, _ path: [String], _ entry: ODataEntry, _ set: EdmEntitySet
  ) throws(ODataRefusal) -> HTTPResponse {
    let form = try call.form()
    let key = self.key(of: entry, in: set)
    let place = address(of: key, in: set).dropFirst(call.root.count)
    var context: String?
    if form.metadata != .none {
      context = "\(call.root)$metadata#\(place)/\(path.joined(separator: "/"))"
    }
    do throws(ODataError) {
      let bytes = try service.composer(form).body(property, context: context)
      var headers: HTTPHeaders = ["Content-Type": form.contentType(.value)]
      if let etag = entry.etag { headers["ETag"] = etag }
      return HTTPResponse(status: 200, headers: headers, body: .bytes(bytes))
    } catch { throw ODataRefusal(error) }
  }

  func raw(_ property: ODataProperty) throws(ODataRefusal) -> HTTPResponse {
    switch property.value {
    case .null: return HTTPResponse(status: 204)
    case .binary(let bytes):
      return HTTPResponse(
        status: 200, headers: ["Content-Type": "application/octet-stream"], body: .bytes(bytes))
    case .complex, .collection: throw .notOffered("$value of a value with parts")
    default: return try plain(property.value.text)
    }
  }

  func plain(_ text: String) throws(ODataRefusal) -> HTTPResponse {
    if call.version >= .v4, call.address.options.format == nil { try call.accept(["text/plain"]) }
    return HTTPResponse(
      status: 200, headers: ["Content-Type": "text/plain;charset=utf-8"],
      body: .bytes(Array(text.utf8)))
  }

  func reference(to entry: ODataEntry, _ set: EdmEntitySet) -> ODataEntry {
    var reference = ODataEntry()
    reference.id = address(of: key(of: entry, in: set), in: set)
    return reference
  }

  func reference(
    _ entry: ODataEntry, _ set: EdmEntitySet
  ) throws(ODataRefusal) -> HTTPResponse {
    let form = try call.form()
    var reference = reference(to: entry, set)
    if form.metadata != .none { reference.context = call.root + "$metadata#$ref" }
    do throws(ODataError) {
      let composer = service.composer(form)
      let body =
        call.version >= .v4
        ? try composer.body(reference, .archive)
        : try composer.links([reference.id ?? ""], isCollection: false)
      return HTTPResponse(
        status: 200, headers: ["Content-Type": form.contentType(.value)], body: .bytes(body))
    } catch { throw ODataRefusal(error) }
  }

  func references(
    _ entries: [ODataEntry], _ set: EdmEntitySet
  ) throws(ODataRefusal) -> HTTPResponse {
    let form = try call.form()
    let references = entries.map { reference(to: $0, set) }
    var feed = ODataFeed(references)
    if form.metadata != .none { feed.head.context = call.root + "$metadata#Collection($ref)" }
    do throws(ODataError) {
      let composer = service.composer(form)
      let body =
        call.version >= .v4
        ? try composer.body(feed)
        : try composer.links(references.compactMap(\.id), isCollection: true)
      return HTTPResponse(
        status: 200, headers: ["Content-Type": form.contentType(.value)], body: .bytes(body))
    } catch { throw ODataRefusal(error) }
  }
}
