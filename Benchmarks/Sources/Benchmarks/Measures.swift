extension Measure {
  /// All there are, in the order of the table: to add one, write a file of its own with a
  /// `static let`, and its name here.
  static let all: [Measure] = [
    firstImport,
    changes,
    replay,
    pendingWrite,
    polls,
    delta,
    liveQueries,
    odata,
    encryption,
    nodes,
    simulation,
    postgreSQL,
    modes,
    kit,
    rights,
    bounds,
    requests,
    sessions,
    readers,
  ]
}
