/// An object of this device.
package struct LocalObject: Hashable, Sendable {
  package let entity: String
  package let object: Int64

  package init(_ entity: String, _ object: Int64) {
    self.entity = entity
    self.object = object
  }
}
