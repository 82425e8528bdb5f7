import FerryLogger
import FerryTestTraits
import FerryWorld
import Foundation
import Testing

@Suite("Device log")
struct LoggerTests {
  @Test(
    "Errors and worse are kept at first; logging on keeps from debug on",
    .reference("ios/LOG-1", "adr/LGA-1"))
  func level() {
    let log = makeLog(nil)
    #expect(log.level == .error && !log.isEnabled)
    #expect(log.canLog(.error) && !log.canLog(.warning))
    func all() -> [String] {
      log.removeAll()
      for severity in LogSeverity.allCases { log.log(severity, severity.name) }
      return log.records().map(\.message)
    }
    #expect(all() == ["error", "critical", "alert", "emergency"])
    log.isEnabled = true
    #expect(all().first == "debug" && log.count == 8)
    log.isEnabled = false
    #expect(all() == ["error", "critical", "alert", "emergency"])
    log.level = .emergency
    #expect(all() == ["emergency"])
  }

  @Test("A call below the level does not even make its message")
  func lazy() {
    let log = makeLog(.error)
    var made = 0
    func message() -> String {
      made += 1
      return "made"
    }
    log.debug(message())
    #expect(made == 0)
    log.error(message())
    #expect(made == 1)
  }

  @Test(
    "A method for each level, with file, function and line of the caller",
    .reference("ios/LOG-2", "ios/LOG-3", "adr/LGA-8")
  )
  func methods() {
    let log = makeLog()
    log.emergency("e"); log.alert("a"); log.critical("c"); log.error("r"); log.warning("w")
    log.notice("n"); log.info("i"); log.debug("d"); log.trace("t")
    #expect(
      log.records().map(\.severity) == [
        .emergency, .alert, .critical, .error, .warning, .notice, .info, .debug, .trace,
      ])
    let line = #line - 6
    #expect(log.records()[0].location == "FerryLoggerTests/LoggerTests.swift:\(line) methods()")
    log.removeAll()
    log.error("given", file: "Flights.load", function: "", line: 0)
    log.logsLocation = false
    log.error("none")
    #expect(log.records().map(\.location) == ["Flights.load", ""])
  }

  @Test("Tag, error and correlation id go with a record", .reference("adr/LGA-2"))
  func parts() throws {
    struct Broken: Error, CustomStringConvertible { let description = "the line is down" }
    let clock = SetClock()
    clock.now = Timestamp(milliseconds: 86_400_000)
    let log = makeLog(clock: clock)
    log.warning("m", tag: "Flights", component: "cache", error: Broken(), correlationID: "c-1")
    let record = try #require(log.records().first)
    #expect(record.number == 1 && record.tag == "Flights" && record.component == "cache")
    #expect(record.error == "the line is down" && record.correlationID == "c-1")
    #expect(record.time == clock.now)
    #expect(record.process == ProcessInfo.processInfo.processIdentifier)
  }

  @Test("Record 10,001 lets the oldest 200 go", .reference("adr/LGA-3"))
  func rotation() {
    let log = makeLog(.error)
    for number in 1...10_000 { log.error("\(number)") }
    #expect(log.count == 10_000 && log.records().first?.message == "1")
    log.error("10001")
    #expect(log.count == 9_801 && log.records().first?.message == "201")
    #expect(log.records().last?.message == "10001")
    #expect(DeviceLog.countLimit == 10_000 && DeviceLog.droppedCount == 200)
    // After a clean-up the pieces are whole again.
    log.log(.emergency, "last")
    log.cleanUp(.emergency)
    for number in 1...10_000 { log.error("\(number)") }
    #expect(log.count == 9_801 && log.records().first?.message == "200")
  }

  @Test(
    "A clean-up removes what is weaker than the threshold, removeAll everything",
    .reference("adr/LGA-4", "adr/LGB-3")
  )
  func cleanUp() {
    let log = makeLog()
    for severity in LogSeverity.allCases { log.log(severity, severity.name) }
    log.cleanUp(.warning)
    #expect(log.records().map(\.message) == ["warning", "error", "critical", "alert", "emergency"])
    log.removeAll()
    #expect(log.count == 0)
    log.error("next")
    #expect(log.records().map(\.number) == [11])
  }

  @Test(
    "Records are found by tag, component, time, process and correlation id",
    .reference("adr/LGA-5", "adr/LGB-3"))
  func queries() {
    let clock = SetClock()
    let log = makeLog(clock: clock)
    for number in 1...5 {
      clock.now = Timestamp(milliseconds: Int64(number))
      log.info(
        "\(number)", tag: number < 3 ? "a" : "b", component: number == 4 ? "cache" : "",
        correlationID: number == 5 ? "c" : nil)
    }
    func found(_ change: (inout LogQuery) -> Void) -> [String] {
      var query = LogQuery()
      change(&query)
      return log.records(query).map(\.message)
    }
    #expect(found { $0.tag = "a" } == ["1", "2"])
    #expect(found { $0.component = "cache" } == ["4"])
    #expect(
      found {
        $0.from = Timestamp(milliseconds: 2)
        $0.to = Timestamp(milliseconds: 4)
      } == ["2", "3", "4"])
    #expect(found { $0.correlationID = "c" } == ["5"])
    #expect(found { $0.process = ProcessInfo.processInfo.processIdentifier }.count == 5)
    #expect(found { $0.process = -1 } == [])
    #expect(found { _ in }.count == 5)
  }

  @Test(
    "The text has nine header fields and a line for each record",
    .reference("adr/LGA-6", "adr/LGA-7", "adr/A50"))
  func text() {
    let clock = SetClock()
    clock.now = Timestamp(milliseconds: 1_330_519_999_007)
    let log = makeLog(clock: clock)
    var header = LogHeader()
    header.osVersion = "18.0"
    header.appName = "Flights"
    header.user = "anna\nOS version: 1"
    log.header = header
    log.warning("two\nlines", tag: "Cache", file: "Store.load", function: "", line: 0)
    clock.now = Timestamp(milliseconds: -1)
    log.logsLocation = false
    log.error("old", tag: "Cache", correlationID: "7")
    #expect(
      log.text() == """
        OS version: 18.0
        App name: Flights
        App version:\u{20}
        Third-party versions:\u{20}
        Hardware:\u{20}
        User: anna OS version: 1
        Time zone:\u{20}
        Language:\u{20}
        Base URL:\u{20}

        2012-02-29 12:53:19.007 WARNING Cache Store.load two\\nlines
        1969-12-31 23:59:59.999 ERROR Cache old correlation=7

        """)
    #expect(
      TextLogFormatter(offsetSeconds: 3_600).line(log.records()[1]).hasPrefix(
        "1970-01-01 00:59:59.999"))
  }

  @Test("Filter, formatter and handler are the app's own if it likes", .reference("adr/LGB-1"))
  func replaceable() {
    let kept = Kept()
    let log = makeLog(handlers: [kept])
    log.filter = NoNoise()
    log.error("noise")
    log.error("signal")
    #expect(kept.all.map(\.message) == ["signal"] && log.records() == kept.all)
    #expect(log.text(formatter: Upper()).hasSuffix("\n\nSIGNAL\n"))
    log.filter = nil
    log.handlers = []
    log.error("noise")
    #expect(log.count == 2 && kept.all.count == 1)
  }

  @Test(
    "Entering, exiting, nested values and readings, as on BlackBerry",
    .reference("adr/LGB-2", "adr/LGA-11"))
  func calls() {
    let log = makeLog()
    log.entering("Flights", "load", 3, "LH")
    log.exiting("Flights", "load", result: true)
    log.logNestedObjects(.info, "flight", ["price": 3, "from": ["city": "FRA", "gates": [1, 2]]])
    log.performance("load", .milliseconds(17))
    log.deprecated("open()", use: "open(_:)")
    #expect(
      log.records().map(\.message) == [
        "entering: 3, LH", "exiting: true",
        "flight from.city = FRA from.gates.0 = 1 from.gates.1 = 2 price = 3", "load 17 ms",
        "open() is deprecated; use open(_:)",
      ])
    #expect(log.records().map(\.severity) == [.trace, .trace, .info, .performance, .warning])
    #expect(log.records()[0].location == "Flights.load" && log.records()[0].tag == "Flights")
    let many = Dictionary(uniqueKeysWithValues: (0..<10_000).map { ("p\($0)", $0) })
    log.logNestedObjects(.info, "many", many)
    #expect(log.records().last?.message.hasSuffix(" …") == true)
    log.level = .error
    log.entering("Flights", "load")
    #expect(log.count == 6)
  }

  @Test("What the project's own code writes comes in by one bridge, with its level")
  func bridge() {
    let log = makeLog(.warning)
    let world = log.worldLog(component: "sync")
    world.info("quiet")
    world.warn("loud", ("rows", "3"), ("correlation", "c-9"))
    world.write(.fatal, "worst", [])
    #expect(log.records().map(\.message) == ["loud rows=3", "worst"])
    #expect(log.records().map(\.severity) == [.warning, .emergency])
    #expect(log.records()[0].correlationID == "c-9" && log.records()[0].component == "sync")
  }

  @Test("A message above the limit is cut between letters and says its size")
  func long() throws {
    let log = makeLog()
    log.error(String(repeating: "é", count: 8_192))
    log.error("x" + String(repeating: "é", count: 8_192))
    let records = log.records()
    #expect(records[0].message.utf8.count == 16_384)
    #expect(records[1].message.hasSuffix("é… (16385 bytes)"))
    #expect(records[1].message.utf8.count == 16_383 + "… (16385 bytes)".utf8.count)
  }

  /// 100,000 in each run; FERRY_KIT_RECORDS of them in `Scripts/check kit-kills`.
  private static let lines =
    ProcessInfo.processInfo.environment["FERRY_KIT_RECORDS"].flatMap(Int64.init) ?? 100_000

  @Test("Eight threads log many records: numbers in order, none twice, the latest kept")
  func threads() {
    let (log, count) = (makeLog(.error), Self.lines)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<count / 8 { log.error("\(number)", tag: "\(thread)") }
    }
    let numbers = log.records().map(\.number)
    #expect(numbers.last == count && numbers.count > 9_800 && numbers.count <= 10_000)
    #expect(numbers == Array((count - Int64(numbers.count) + 1)...count))
    for thread in 0..<8 {
      var query = LogQuery()
      query.tag = "\(thread)"
      let own = log.records(query).compactMap { Int($0.message) }
      #expect(own == own.sorted())
    }
  }
}
