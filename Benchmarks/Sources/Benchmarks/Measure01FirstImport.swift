import Foundation

extension Measure {
  /// From the server's cache to committed rows in the device's SQLite, over loopback, against a raw
  /// bulk insert of the same rows into the same tables.
  static let firstImport = Measure(number: 1, name: "first import") { setting in
    let count = setting.n(1_000_000, quick: 5_000)
    let server = try await setting.servers.server(items: count, setting)
    var ours: [Double] = []
    var raw: [Double] = []
    var devicePeak: [Double] = []
    var deviceFiles = 0.0
    for round in setting.eachRound() {
      let device = try DeviceProcess(server, setting, name: "first-\(round)")
      ours.append(
        try seconds {
          try device.perform(#"["subscribe"]"#)
          try device.perform(#"["synchronize"]"#)
        })
      let there = try device.perform(#"["count", "Item"]"#)
      guard there.contains("\"count\":\(count)") else { throw Trouble("imported: \(there)") }
      devicePeak.append(device.child.peakMegabytes)
      deviceFiles = setting.megabytes(device.database)
      raw.append(try rawInsert(count, tablesOf: device.database, setting))
      setting.say(
        "\(Int(Double(count) / ours[round])) rows/s, raw \(Int(Double(count) / raw[round]))")
      device.end(setting)
    }
    setting.say("Kinto is not measured beside it: it is no part of what the script installs")
    let rate = ours.map { Double(count) / $0 }
    return [
      Figure(
        1, "first import", n: count, unit: "rows/s", ours: median(rate),
        limit: median(raw.map { Double(count) / $0 }), of: "raw SQLite insert",
        aim: .ratioAtLeast(0.6), peakMegabytes: devicePeak.max()),
      Figure(
        1, "first import, memory of the device", n: count, unit: "MB", ours: devicePeak.max() ?? 0,
        aim: .atMost(100)),
      Figure(
        1, "first import, memory of the server", n: count, unit: "MB",
        ours: server.child.peakMegabytes),
      Figure(
        1, "first import, files of the device", n: count, unit: "MB", ours: deviceFiles,
        limit: setting.megabytes(server.business), of: "the business database"),
      Figure(
        1, "first import, files of the server", n: count, unit: "MB",
        ours: setting.megabytes("\(server.data)/server.sqlite"),
        limit: setting.megabytes(server.business), of: "the business database"),
      Figure(
        1, "load of the server's cache", n: count, unit: "rows/s",
        ours: Double(count) / server.loadSeconds,
        limit: median(raw.map { Double(count) / $0 }), of: "raw SQLite insert",
        aim: .ratioAtLeast(0.25)),
      Figure(
        1, "load of the server's cache, memory", n: count, unit: "MB",
        ours: server.loadPeakMegabytes, aim: .atMost(300)),
    ]
  }

  /// Seconds of one transaction into tables like those of the device at `path`.
  private static func rawInsert(
    _ count: Int, tablesOf path: String, _ setting: Setting
  ) throws -> Double {
    let schema = try RawDatabase(path).texts(
      "SELECT sql FROM sqlite_schema WHERE tbl_name = 'Item' AND sql IS NOT NULL ORDER BY rowid")
    let target = setting.path("raw-import.db")
    defer { setting.remove(target) }
    let raw = try RawDatabase(target)
    try DeviceTable.configure(raw, synchronous: "NORMAL")
    for statement in schema { try raw.execute(statement[0] ?? "") }
    let table = try DeviceTable(raw)
    return try seconds { try table.insert(1...Int64(count), raw) }
  }
}
