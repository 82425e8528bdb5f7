import FerryLogger
import FerryTestTraits
import FerryWorld
import Testing

@Suite("Scales of the log")
struct ScaleTests {
  @Test("The four scales meet as the table of the guide says", .reference("ios/LOG-2", "adr/LGA-1"))
  func table() {
    let rows = LogSeverity.allCases.map { severity in
      let ios = IOSLogLevel(severity)
      let android = AndroidLogLevel(severity)
      let synchronization = LogLevel(severity)
      return "\(severity.name): \(ios.rawValue) \(ios), \(android.rawValue) \(android), "
        + "\(BlackBerryLogLevel(severity)), \(synchronization.rawValue) \(synchronization)"
    }
    #expect(
      rows == [
        "performance: 7 debug, 1 performance, performance, 1 trace",
        "trace: 7 debug, 2 verbose, finer, 1 trace",
        "debug: 7 debug, 3 debug, fine, 2 debug",
        "info: 6 info, 4 info, info, 3 info",
        "notice: 5 notice, 4 info, info, 3 info",
        "warning: 4 warning, 5 warn, error, 4 warn",
        "error: 3 error, 6 error, error, 5 error",
        "critical: 2 critical, 7 assert, error, 6 fatal",
        "alert: 1 alert, 8 fatal, error, 6 fatal",
        "emergency: 0 emergency, 8 fatal, error, 6 fatal",
      ])
  }

  @Test("Each level of each scale comes back from ours as itself")
  func roundTrip() {
    func check<Scale: LogScale & Equatable>(_ scale: Scale.Type) {
      for level in Scale.allCases { #expect(Scale(level.severity) == level) }
    }
    check(IOSLogLevel.self)
    check(AndroidLogLevel.self)
    check(BlackBerryLogLevel.self)
    check(LogLevel.self)
    #expect(IOSLogLevel.allCases.map(\.rawValue) == Array(0...7))
    #expect(AndroidLogLevel.allCases.map(\.rawValue) == Array(1...8))
  }

  @Test(
    "Six operations, each in the direction of its own scale",
    .reference("ios/LOG-4", "adr/LGA-1", "adr/LGA-5"))
  func operations() {
    let log = makeLog()
    for severity in LogSeverity.allCases { log.log(severity, severity.name) }
    func ios(_ operation: LogOperation) -> [String] {
      log.records(LogQuery(IOSLogLevel.error, operation)).map(\.message)
    }
    let worse = ["critical", "alert", "emergency"]
    let better = ["performance", "trace", "debug", "info", "notice", "warning"]
    #expect(ios(.equals) == ["error"])
    #expect(ios(.notEqual) == better + worse)
    #expect(ios(.less) == worse)
    #expect(ios(.lessEqual) == ["error"] + worse)
    #expect(ios(.greater) == better)
    #expect(ios(.greaterEqual) == better + ["error"])
    #expect(log.records(LogQuery(IOSLogLevel.debug, .lessEqual)).count == 10)
    func android(_ operation: LogOperation) -> [String] {
      log.records(LogQuery(AndroidLogLevel.error, operation)).map(\.message)
    }
    #expect(android(.greaterEqual) == ["error"] + worse)
    #expect(android(.less) == better)
    #expect(log.records(LogQuery(LogLevel.warn, .greaterEqual)).count == 5)
    #expect(log.records(LogQuery(BlackBerryLogLevel.error)).count == 5)
    // Without an operation the level itself is asked for.
    #expect(log.records(LogQuery(IOSLogLevel.notice)).map(\.message) == ["notice"])
    #expect(log.records(LogQuery(atLeast: .alert)).count == 2)
  }
}
