import FerryHTTP
import FerryJSON
import FerryModel

/// One request of an operator, once it is known who asks.
package struct AdminCall: Sendable {
  package let method: HTTPMethod
  /// Behind `/admin/1/`, decoded.
  package let path: [String]
  package var query: [String: String] = [:]
  package var body: JSONNode?
  package let person: Operator
  package let address: String

  package init(
    _ method: HTTPMethod, _ path: [String], by person: Operator, from address: String,
    query: [String: String] = [:], body: JSONNode? = nil
  ) {
    self.method = method
    self.path = path
    self.person = person
    self.address = address
    self.query = query
    self.body = body
  }

  func require(_ role: AdminRole) throws(AdminError) {
    guard person.role >= role else {
      throw AdminError(
        403, "notAllowed",
        "this needs the role \(role.rawValue), and you are \(person.role.rawValue)",
        hint: "Ask an administrator: ferry user change --file admins.json --role \(role.rawValue).")
    }
  }

  /// A text of the query, not empty.
  func text(_ name: String) -> String? { query[name].flatMap { $0.isEmpty ? nil : $0 } }

  func integer(_ name: String, in range: ClosedRange<Int64>) throws(AdminError) -> Int64? {
    guard let text = text(name) else { return nil }
    guard let number = Int64(text), range.contains(number) else {
      throw .bad(
        "\(name) is no number from \(range.lowerBound) to \(range.upperBound)",
        hint: "Leave it out, or write such a number.")
    }
    return number
  }

  /// A text of the body; empty where there is none.
  func word(_ name: String, atMost limit: Int = 2_000) throws(AdminError) -> String {
    let text = body?[name]?.string ?? ""
    guard text.utf8.count <= limit else {
      throw .bad("\(name) has more than \(limit) bytes", hint: "Write less.")
    }
    return text
  }

  /// Why the operator does it; every change has one.
  func reason() throws(AdminError) -> String {
    let text = try word("reason", atMost: 500)
    guard text.contains(where: { !$0.isWhitespace }) else {
      throw .bad("the reason is missing", hint: "Write why: it is kept in the audit log.")
    }
    return text
  }

  var isTrial: Bool { body?["dryRun"]?.boolean ?? false }

  static func operation(_ text: String) throws(AdminError) -> OperationID {
    guard let id = OperationID(text) else { throw .notFound("operation of this id") }
    return id
  }
}
