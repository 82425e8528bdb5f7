import FerryJSON
import FerryModel
import FerryWire

/// An operation whose outcome nobody knows, as an operator sees it before the decision.
package struct OpenOutcome: Sendable {
  package let operation: FerryWire.Operation
  package let user: String
  package let device: String
  package let found: UnknownOutcome

  /// `package`: which has the operation.
  package func write(to writer: inout JSONWriter, _ package: Package) {
    writer.beginObject()
    writer.field("package", package.id)
    writer.field("id", operation.id.text)
    writer.field("entity", operation.entity)
    writer.field("kind", operation.kind.rawValue)
    writer.field("key", operation.key?.text)
    writer.field("user", user)
    writer.field("device", device)
    writer.field("reason", found.reason)
    write(operation.changed, as: "sent", of: package, to: &writer)
    write(operation.base, as: "base", of: package, to: &writer)
    writer.key("candidates")
    writer.raw(found.candidates.utf8)
    writer.endObject()
  }

  private func write(
    _ values: [Int: AttributeValue], as name: String, of package: Package,
    to writer: inout JSONWriter
  ) {
    guard let entity = package.entity(named: operation.entity) else { return }
    writer.key(name)
    writer.beginObject()
    for (position, value) in values.sorted(by: { $0.key < $1.key })
    where entity.attributes.indices.contains(position) {
      writer.key(entity.attributes[position].name)
      writer.value(value)
    }
    writer.endObject()
  }
}
