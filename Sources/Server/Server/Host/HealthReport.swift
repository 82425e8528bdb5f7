import FerryJSON

/// Status and body of `GET /health`: those of the package that is worst, and of each where there are
/// several; reasons, version and start only with the meter of the server.
struct HealthReport {
  let status: Int
  let json: [UInt8]

  init(_ pulses: [(package: String, pulse: Pulse)], of meter: ServerMeter?) {
    let reports = pulses.map { (package: $0.package, report: $0.pulse.report) }
    let isWell = reports.allSatisfy(\.report.isWell)
    status = isWell ? 200 : 503
    var writer = JSONWriter()
    writer.beginObject()
    if let meter, let worst = reports.min(by: { $0.report.rank < $1.report.rank }) {
      worst.report.write(to: &writer)
      if !meter.version.isEmpty { writer.field("version", meter.version) }
      writer.field("startedAt", meter.started.milliseconds)
      let troubles = meter.troubles.sorted { $0.key < $1.key }
      if !troubles.isEmpty {
        writer.key("troubles")
        writer.array(troubles) { writer, trouble in
          writer.beginObject()
          writer.field("part", trouble.key)
          writer.field("reason", trouble.value)
          writer.endObject()
        }
      }
      if reports.count > 1 {
        writer.key("packages")
        writer.array(reports) { writer, report in
          writer.beginObject()
          writer.field("package", report.package)
          report.report.write(to: &writer)
          writer.endObject()
        }
      }
    } else {
      let isLoaded = reports.allSatisfy(\.report.isLoaded)
      writer.field("status", isWell ? isLoaded ? "ready" : "loading" : "notReady")
    }
    writer.endObject()
    json = writer.bytes
  }
}

extension Pulse.Report {
  /// What an operator has to look at first is lowest.
  fileprivate var rank: Int {
    switch status {
    case "stuck": 0
    case "trouble": 1
    case "degraded": 2
    case "loading": 3
    default: 4
    }
  }
}
