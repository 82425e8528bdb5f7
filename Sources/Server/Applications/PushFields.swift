import FerryHTTP
import FerryJSON
import FerryRegistration

/// What a service pushes, as the device gets it: fields by name.
enum PushFields {
  static let mostBytes: Int = 4_096

  /// Names of the header families, and under which name the device gets each.
  static let headers: [(header: String, field: String)] = {
    let apns = [
      "ALERT", "ALERT-BODY", "ALERT-ACTION-LOC-KEY", "ALERT-LOC-KEY", "ALERT-LOC-ARGS",
      "ALERT-LAUNCH-IMAGE", "BADGE", "SOUND", "DATA",
    ]
    let gcm = ["COLLAPSEKEY", "DATA", "DELAYWHILEIDLE", "TIMETOLIVE"]
    let families =
      [("DATA", "Data")] + apns.map { ("APNS-\($0)", "APNS-\($0)") }
      + gcm.map { ("GCM-\($0)", "GCM-\($0)") }
    let gateway = [
      ("x-sap-poke-title", "Title"), ("x-sap-poke-entriesofinterest", "EntriesOfInterest"),
      ("x-sap-poke-data", "Data"),
    ]
    return families.flatMap { suffix, field in
      [("X-SMP-\(suffix)", field), ("X-SUP-\(suffix)", field)]
    } + gateway.map { ($0.0, $0.1) }
  }()

  /// The fields of a request as JSON. The body is the payload where no header has it.
  ///
  /// `isDocument`: the body is an object of JSON whose members are the fields.
  static func read(
    _ request: HTTPRequest, isDocument: Bool
  ) throws(ApplicationsRefusal) -> String {
    guard let body = String(validating: request.body, as: UTF8.self) else {
      throw ApplicationsRefusal(.unreadablePayload)
    }
    var fields: [(name: String, value: String)] = []
    for (header, field) in headers where !fields.contains(where: { $0.name == field }) {
      let values = request.headers.values(header)
      guard let value = values.first else { continue }
      guard values.count == 1 else { throw ApplicationsRefusal(.repeatedProperty, header) }
      fields.append((field, value))
    }
    if isDocument {
      fields += try document(request.body)
    } else if !body.isEmpty {
      let name = fields.contains { $0.name == "Data" } ? "Body" : "Data"
      fields.append((name, body))
    }
    guard !fields.isEmpty else { throw ApplicationsRefusal(.emptyParameters) }
    guard fields.reduce(0, { $0 + $1.value.utf8.count }) <= mostBytes else {
      throw ApplicationsRefusal(.payloadTooLarge)
    }
    var writer = JSONWriter()
    writer.beginObject()
    for field in fields { writer.field(field.name, field.value) }
    writer.endObject()
    return writer.text
  }

  /// The names of a document, and under which the device gets them.
  private static let members: [String: String] = [
    "alert": "Alert", "data": "Data", "badge": "Badge", "sound": "Sound", "title": "Title",
  ]

  private static func document(
    _ bytes: [UInt8]
  ) throws(ApplicationsRefusal) -> [(name: String, value: String)] {
    guard let object = (try? JSONNode.parse(bytes))?.object else {
      throw ApplicationsRefusal(.unreadablePayload)
    }
    var fields: [(name: String, value: String)] = []
    for member in object {
      let name = members[member.key] ?? member.key
      guard !fields.contains(where: { $0.name == name }) else {
        throw ApplicationsRefusal(.repeatedProperty, String(member.key.prefix(64)))
      }
      switch member.value.content {
      case .string(let text): fields.append((name, text))
      case .number(let text): fields.append((name, text))
      case .boolean(let flag): fields.append((name, flag ? "true" : "false"))
      default: throw ApplicationsRefusal(.unreadablePayload, String(member.key.prefix(64)))
      }
    }
    return fields
  }
}
