/// Collects what is not as it should be, up to a limit.
package struct EdmDiagnostics {
  package private(set) var all: [ODataDiagnostic] = []
  package private(set) var dropped = 0
  package let limit: Int

  package init(limit: Int) { self.limit = limit }

  package mutating func add(
    _ message: String, _ place: @autoclosure () -> ODataPlace, _ consequence: String
  ) {
    guard all.count < limit else {
      dropped += 1
      return
    }
    all.append(ODataDiagnostic(message, at: place(), consequence: consequence))
  }

  package mutating func add(_ diagnostic: ODataDiagnostic) {
    if all.count < limit { all.append(diagnostic) } else { dropped += 1 }
  }

  /// The list, with a last word on how many more there were.
  package var list: [ODataDiagnostic] {
    guard dropped > 0 else { return all }
    return all + [
      ODataDiagnostic(
        "\(dropped) more diagnostics", at: ODataPlace(), consequence: "they are not listed")
    ]
  }
}

extension ODataError {
  /// What strict reading makes of a diagnostic.
  package init(strict diagnostic: ODataDiagnostic) {
    self.init(.strict, diagnostic.message, at: diagnostic.place)
  }
}
