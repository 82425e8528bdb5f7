import FerryKitUI
import FerryLogger
import FerryTestTraits
import FerryWorld
import Observation
import Synchronization
import Testing

@Suite("The list of log records")
@MainActor struct LogListTests {
  private func log(_ severities: LogSeverity...) -> DeviceLog {
    let log = DeviceLog(world: .system())
    log.level = .performance
    for severity in severities { log.log(severity, severity.name) }
    return log
  }

  @Test(
    "It shows the records of a level and above, the newest first, and what is picked is sent",
    .reference("ios/LOG-5", "ios/LOG-6"))
  func list() {
    let log = log(.info, .error, .debug)
    let list = LogList(log, atLeast: .info, language: .german)
    #expect(list.rows.map(\.severity) == [.error, .info] && list.text(.title) == "Protokoll")
    #expect(!list.hasPicked && list.export.records.isEmpty)
    list.pick(2)
    #expect(list.hasPicked && list.export.records.map(\.message) == ["error"])
    list.severity = .debug
    #expect(list.rows.map(\.isPicked) == [false, true, false] && list.severity == .debug)
    list.pickAll()
    #expect(list.export.records.map(\.message) == ["info", "error", "debug"])
    list.severity = .error
    list.severity = .debug
    #expect(list.export.records.map(\.message) == ["error"])
  }

  @Test("Records that came since are shown after a refresh, and none after a clear")
  func refresh() {
    let log = log(.info)
    let list = LogList(log)
    log.log(.error, "new")
    #expect(list.rows.count == 1)
    list.refresh()
    #expect(list.rows.count == 2)
    list.pick(1)
    list.clear()
    #expect(list.rows.isEmpty && !list.hasPicked && log.count == 0)
  }

  @Test("A view that shows the list hears of each change")
  func observed() {
    let list = LogList(log(.info))
    let deeds: [@MainActor () -> Void] = [
      { list.pick(1) }, { list.severity = .info }, { list.pickAll() }, { list.refresh() },
      { list.clear() },
    ]
    for deed in deeds {
      let isHeard = Mutex(false)
      withObservationTracking {
        _ = list.rows
      } onChange: {
        isHeard.withLock { $0 = true }
      }
      deed()
      #expect(isHeard.withLock { $0 })
    }
  }
}
