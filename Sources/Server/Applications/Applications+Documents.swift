import FerryHTTP
import FerryOData
import FerryRegistration
import FerryServer

/// What the service gives to read.
extension Applications {
  func read(
    _ request: HTTPRequest, _ place: ApplicationsPlace, _ application: Application,
    _ root: String, _ format: AnswerFormat
  ) async throws(ApplicationsRefusal) -> HTTPResponse {
    switch place.target {
    case .service:
      let caller = try await caller(request, application)
      return completed(try service(root, format), caller)
    case .metadata:
      let caller = try await caller(request, application)
      return completed(
        answer(Array(ApplicationsMetadata.text.utf8), "application/xml;charset=utf-8"), caller)
    case .connections:
      let (values, caller) = try await values(request, nil, application)
      return completed(try document(ODataFeed([values.entry(root)]), root, format), caller)
    case .connection(let id):
      let (values, caller) = try await values(request, id, application)
      if request.headers["If-None-Match"] == values.etag {
        return completed(HTTPResponse(status: 304, headers: ["ETag": values.etag]), caller)
      }
      return completed(try document(values.entry(root), format), caller)
    case .property(let id, let name, let isValue):
      let (values, caller) = try await values(request, id, application)
      return completed(try property(name, values, isValue: isValue, format), caller)
    case .endpoints:
      let (_, caller) = try await connection(request, nil, of: application)
      let feed = ODataFeed(application.services.map { endpoint($0, root, request) })
      return completed(try document(feed, root, format), caller)
    case .endpoint(let name):
      let (_, caller) = try await connection(request, nil, of: application)
      guard application.services.contains(name) else {
        throw ApplicationsRefusal(.registrationNotFound)
      }
      return completed(try document(endpoint(name, root, request), format), caller)
    case .capabilities:
      let (values, caller) = try await values(request, nil, application)
      return completed(try document(ODataFeed(values.capabilities(root)), root, format), caller)
    case .notification, .pushRegistration, .pushApplication, .bundle, .packages, .trace:
      throw ApplicationsRefusal(.registrationNotFound)
    }
  }

  private func values(
    _ request: HTTPRequest, _ id: String?, _ application: Application
  ) async throws(ApplicationsRefusal) -> (ConnectionValues, RegistrationCaller) {
    let (connection, caller) = try await connection(request, id, of: application)
    return (ConnectionValues(connection, application, door: base(request)), caller)
  }

  private func endpoint(_ name: String, _ root: String, _ request: HTTPRequest) -> ODataEntry {
    var entry = ODataEntry(
      type: "applications.Endpoint",
      [
        "EndpointName": .string(name), "RemoteURL": .string("\(base(request))\(name)/"),
        "AnonymousAccess": .boolean(false),
      ])
    entry.id = "\(root)Endpoints('\(name)')"
    return entry
  }

  private func property(
    _ name: String, _ values: ConnectionValues, isValue: Bool, _ format: AnswerFormat
  ) throws(ApplicationsRefusal) -> HTTPResponse {
    guard let property = ConnectionProperty.named(name) else {
      throw ApplicationsRefusal(.unknownProperty, String(name.prefix(64)))
    }
    if property.category == .passwordPolicy, !values.hasPasswordPolicy {
      throw ApplicationsRefusal(.passwordPolicyNotEnabled)
    }
    if isValue {
      guard let value = values.value(property) else {
        throw ApplicationsRefusal(.registrationNotFound, name)
      }
      return answer(Array(value.text.utf8), "text/plain;charset=utf-8")
    }
    let value = values.edm(property)
    do throws(ODataError) {
      switch format {
      case .json: return answer(try json(name, value), "application/json;charset=utf-8")
      case .atom: return answer(xml(name, value), "application/xml;charset=utf-8")
      }
    } catch { throw Applications.unwritable(error) }
  }

  private func json(_ name: String, _ value: EdmValue) throws(ODataError) -> [UInt8] {
    let entry = ODataEntry(ODataProperties([ODataProperty(name, value)]))
    let body = try composer(.json).body(entry, .updateIncremental)
    return Array("{\"d\":".utf8) + body + Array("}".utf8)
  }

  private func xml(_ name: String, _ value: EdmValue) -> [UInt8] {
    let space = "http://schemas.microsoft.com/ado/2007/08/dataservices"
    let open =
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<\(name) xmlns=\"\(space)\""
      + " xmlns:m=\"\(space)/metadata\""
    guard !value.isNull else { return Array("\(open) m:null=\"true\"/>".utf8) }
    return Array("\(open)>\(Applications.escaped(value.text))</\(name)>".utf8)
  }

  /// As text between two tags of XML or HTML.
  static func escaped(_ plain: String) -> String {
    var text = ""
    for character in plain.unicodeScalars {
      switch character {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      default: text.unicodeScalars.append(character)
      }
    }
    return text
  }

  private func service(
    _ root: String, _ format: AnswerFormat
  ) throws(ApplicationsRefusal) -> HTTPResponse {
    guard let metadata = ApplicationsMetadata.metadata else {
      throw ApplicationsRefusal(.internalError)
    }
    let document = ODataServiceDocument(of: metadata)
    switch format {
    case .json: return answer(document.json(.v2, root: root), "application/json;charset=utf-8")
    case .atom:
      do throws(ODataError) {
        return answer(
          try document.xml(.v2, root: root), "application/atomsvc+xml;charset=utf-8")
      } catch { throw Applications.unwritable(error) }
    }
  }

  private func composer(_ format: ODataFormat) -> ODataComposer {
    ODataComposer(format, version: .v2, metadata: ApplicationsMetadata.metadata)
  }

  /// An entry as a document of its own.
  func document(
    _ entry: ODataEntry, _ format: AnswerFormat
  ) throws(ApplicationsRefusal) -> HTTPResponse {
    do throws(ODataError) {
      var response: HTTPResponse
      switch format {
      case .json:
        response = answer(
          try composer(.json).body(entry, .archive), "application/json;charset=utf-8")
      case .atom:
        response = answer(
          try composer(.atom).body(entry, .archive), "application/atom+xml;type=entry;charset=utf-8"
        )
      }
      response.headers["ETag"] = entry.etag
      return response
    } catch { throw Applications.unwritable(error) }
  }

  private func document(
    _ feed: ODataFeed, _ root: String, _ format: AnswerFormat
  ) throws(ApplicationsRefusal) -> HTTPResponse {
    do throws(ODataError) {
      switch format {
      case .json:
        return answer(try composer(.json).body(feed), "application/json;charset=utf-8")
      case .atom:
        return answer(
          try composer(.atom).body(feed), "application/atom+xml;type=feed;charset=utf-8")
      }
    } catch { throw Applications.unwritable(error) }
  }

  private static func unwritable(_ error: ODataError) -> ApplicationsRefusal {
    // A control character that an app has written, where XML has no way to say it.
    ApplicationsRefusal(.notOffered, "\(error.message); ask for JSON")
  }

  private func answer(_ body: [UInt8], _ type: String) -> HTTPResponse {
    HTTPResponse(
      status: 200,
      headers: [
        "Content-Type": type, "DataServiceVersion": "2.0", "Cache-Control": "no-store",
      ], body: .bytes(body))
  }
}
