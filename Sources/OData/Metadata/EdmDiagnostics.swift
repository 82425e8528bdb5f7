/// Collects what is not as it should be, up to a limit.
struct EdmDiagnostics {
  private(set) var all: [ODataDiagnostic] = []
  private(set) var dropped = 0
  let limit: Int

  init(limit: Int) { self.limit = limit }

  mutating func add(
    _ message: String, _ place: @autoclosure () -> ODataPlace, _ consequence: String
  ) {
    guard all.count < limit else {
      dropped += 1
      return
    }
    all.append(ODataDiagnostic(message, at: place(), consequence: consequence))
  }

  mutating func add(_ diagnostic: ODataDiagnostic) {
    if all.count < limit { all.append(diagnostic) } else { dropped += 1 }
  }

  /// The list, with a last word on how many more there were.
  var list: [ODataDiagnostic] {
    guard dropped > 0 else { return all }
    return all + [
      ODataDiagnostic(
        "\(dropped) more diagnostics", at: ODataPlace(), consequence: "they are not listed")
    ]
  }
}

extension ODataError {
  /// What strict reading makes of a diagnostic.
  init(strict diagnostic: ODataDiagnostic) {
    self.init(.strict, diagnostic.message, at: diagnostic.place)
  }
}
