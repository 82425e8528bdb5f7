import FerryConnector
import FerryHTTP
import FerryJSON
import FerryModel
import FerryOData
import FerryWorld

extension Refusal {
  /// The words of a service; its codes become those of the reference.
  init(status: Int, _ document: ODataErrorDocument, _ form: EntityForm) {
    // What is only a warning beside a refusal names no culprit.
    let details = document.details.filter { !["warning", "info", "success"].contains($0.severity) }
    let targets = ([document.target] + details.map(\.target)).compactMap { $0 }
    let attribute = targets.lazy.compactMap { form.attribute(at: $0)?.name }.first
    var seen: Set<String> = [document.message, ""]
    let more = document.details.map(\.message).filter { seen.insert($0).inserted }
    let code =
      switch status {
      case 403, 404: status
      case 422: 422
      default: 412
      }
    self.init(
      code: code,
      message: document.message.isEmpty ? "The service refused the change." : document.message,
      attribute: attribute, constraint: document.code.isEmpty ? nil : document.code,
      detail: more.isEmpty ? nil : more.joined(separator: " "))
  }
}

extension EntityForm {
  /// The attribute of a target such as `Stock`, `/Items(3)/Stock` or SAP's `Items(ID=3)/Stock`.
  func attribute(at target: String) -> Attribute? {
    entity.attributes.first { attribute in
      target == attribute.column || target.hasSuffix("/" + attribute.column)
    }
  }
}

/// What a service says beside a success: SAP's header `sap-message`.
struct ServiceWarning: Equatable {
  let code: String
  let message: String
  let severity: String
  let target: String

  /// All of them, those of `details` too; none without the header.
  static func read(_ headers: HTTPHeaders) -> [ServiceWarning] {
    guard let text = headers["sap-message"],
      let root = try? JSONNode.parse(Array(text.utf8))
    else { return [] }
    let all = [root] + (root["details"]?.array ?? [])
    return all.compactMap { node in
      guard let message = node["message"]?.string, !message.isEmpty else { return nil }
      return ServiceWarning(
        code: node["code"]?.string ?? "", message: message,
        severity: node["severity"]?.string ?? "info",
        target: node["target"]?.string ?? node["propertyref"]?.string ?? "")
    }
  }

  /// One record for the app, and a line of the log, for each.
  static func tell(
    _ headers: HTTPHeaders, of operation: ConnectorOperation, _ form: EntityForm, _ log: any Log
  ) {
    let warnings = read(headers)
    operation.note(
      warnings.map {
        ResultNote(
          ["info", "success"].contains($0.severity) ? .info : .warning, $0.message,
          attribute: form.attribute(at: $0.target)?.name,
          businessCode: $0.code.isEmpty ? nil : $0.code)
      })
    for warning in warnings {
      log.warn(
        "the service did a change and says something about it",
        ("operation", operation.id.text), ("entity", operation.entity.name),
        ("severity", warning.severity), ("code", warning.code), ("text", warning.message))
    }
  }
}
