import FerryCompression
import FerryFaultFiles
import FerryLogger
import FerryTestTraits
import FerryWorld
import Foundation
import Synchronization
import Testing

@Suite("Log files and exports")
struct LogFilesTests {
  @Test("Records are there after a restart, before the new ones", .reference("adr/LGA-10"))
  func restart() throws {
    try withFolder { folder in
      let first = makeLog(handlers: [try LogFiles(folder: folder)])
      first.error("tab\tand\\end\r\n", tag: "日本", error: LogFileProblem(), correlationID: "c")
      first.warning("", component: "cache")
      let files = try LogFiles(folder: folder)
      #expect(files.earlier == first.records())
      let second = makeLog(handlers: [files])
      second.error("early")
      second.restore(files.earlier)
      second.error("late")
      #expect(second.records().map(\.number) == [1, 2, 3, 4])
      #expect(second.records().suffix(2).map(\.message) == ["early", "late"])
      #expect(second.records()[0].error == "LogFileProblem()" && second.records()[1].error == nil)
    }
  }

  @Test("Two files of 5,000 records take turns; the latest are always there")
  func turns() throws {
    try withFolder { folder in
      let files = try LogFiles(folder: folder)
      let log = makeLog(handlers: [files])
      for number in 1...12_001 { log.error("\(number)") }
      let earlier = try LogFiles(folder: folder).earlier
      #expect(earlier.map(\.number) == Array(5_001...12_001))
      #expect(files.lostCount == 0)
      #expect(
        Set(try FileManager.default.contentsOfDirectory(atPath: folder)) == ["log.0", "log.1"])
    }
  }

  @Test("A full disk loses records and says how many; what was written stays, and it goes on after")
  func fullDisk() throws {
    try withFolder { folder in
      let faulty = FaultyFiles()
      let files = try LogFiles(folder: folder, files: faulty)
      let log = makeLog(handlers: [files])
      log.error("one")
      faulty.plan(.failing(.full))
      log.error("two")
      log.error("three")
      #expect(files.lostCount == 2 && log.count == 3)
      faulty.plan(nil)
      log.error("four")
      let messages = try LogFiles(folder: folder).earlier.map(\.message)
      #expect(messages == ["one", "four"])
    }
    let error = #expect(throws: LogError.self) { try LogFiles(folder: "/proc/none") }
    #expect(error?.code == .store && error?.message.contains("/proc") == true)
  }

  @Test("Killed at each step, the file has every record that was whole")
  func killed() throws {
    try withFolder { folder in
      for step in 0..<12 {
        let own = "\(folder)/\(step)"
        let faulty = FaultyFiles()
        let log = makeLog(handlers: [try LogFiles(folder: own, files: faulty)])
        faulty.plan(.killed, at: step)
        for number in 1...10 { log.error("record \(number)") }
        let messages = try LogFiles(folder: own).earlier.map(\.message)
        #expect(messages == (1...10).map { "record \($0)" }.prefix(max(0, step - 2)).map { $0 })
      }
    }
  }

  @Test("Each byte of a log file flipped or cut gives records, never a crash")
  func flipped() throws {
    try withFolder { folder in
      let log = makeLog(handlers: [try LogFiles(folder: folder)])
      log.error("one", tag: "t")
      log.error("two")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      let path = folder + "/" + (try #require(names.first))
      let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      for index in whole.indices {
        var bytes = whole
        bytes[index] ^= 0x41
        for broken in [bytes, Array(whole[..<index])] {
          try Data(broken).write(to: URL(fileURLWithPath: path))
          #expect(try LogFiles(folder: folder).earlier.count <= 3)
        }
      }
    }
  }

  @Test(
    "Picked entries leave as one compressed file that reads back",
    .reference("ios/LOG-5", "ios/LOG-6", "ios/CS-90"))
  func viewer() throws {
    let log = makeLog()
    for severity in [LogSeverity.info, .error, .emergency] { log.log(severity, severity.name) }
    var viewer = LogViewer(log, LogQuery(IOSLogLevel.error, .lessEqual), language: .german)
    #expect(viewer.records.map(\.message) == ["emergency", "error"])
    viewer.pick(2)
    viewer.pick(99)
    #expect(viewer.rows.map(\.isPicked) == [false, true] && viewer.rows.map(\.id) == [3, 2])
    log.error("new")
    viewer.refresh()
    #expect(viewer.rows.map(\.id) == [4, 3, 2] && viewer.export.records.map(\.number) == [2])
    let file = try viewer.export.compressed()
    #expect(file.starts(with: [0x1F, 0x8B]))
    let text = try LogExport.text(of: file)
    #expect(text == viewer.export.text && text.hasPrefix("OS version: "))
    #expect(text.contains("ERROR") && !text.contains("EMERGENCY"))
    viewer.pick(2)
    #expect(viewer.export.records.isEmpty)
    viewer.pickAll()
    #expect(viewer.export.records.map(\.number) == [2, 3, 4])
    viewer.show(LogQuery(IOSLogLevel.debug, .lessEqual))
    #expect(viewer.rows.count == 4)
  }

  @Test("An export that is cut, flipped, foreign or too large is an error by name")
  func badExports() throws {
    let log = makeLog()
    for number in 0..<50 { log.error("entry \(number)") }
    let export = LogExport(header: log.header, records: log.records())
    let file = try export.compressed()
    for end in file.indices {
      let error = #expect(throws: LogError.self) { try LogExport.text(of: Array(file[..<end])) }
      #expect(error?.code == .damaged)
    }
    for index in file.indices {
      var bytes = file
      bytes[index] ^= 0x10
      let text = try? LogExport.text(of: bytes)
      #expect(text == nil || text == export.text)
    }
    let size = export.text.utf8.count
    #expect(try LogExport.text(of: file, limitBytes: size) == export.text)
    let error = #expect(throws: LogError.self) {
      try LogExport.text(of: file, limitBytes: size - 1)
    }
    #expect(error?.code == .tooLarge)
    #expect(throws: LogError.self) { try LogExport.text(of: Array("<html>".utf8)) }
  }

  @Test("Another program reads our compressed files")
  func gzip() throws {
    // By gzip -n of another program: "Ferry".
    let known: [UInt8] = [
      0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xFF, 0x73, 0x4B, 0x2D, 0x2A, 0xAA,
      0x04, 0x00, 0x17, 0x33, 0xCC, 0x7E, 0x05, 0x00, 0x00, 0x00,
    ]
    let ours = try Gzip.compress(Array("Ferry".utf8))
    #expect(try Gzip.expand(ours, limitBytes: 5) == Array("Ferry".utf8))
    #expect(ours.dropFirst(10) == known.dropFirst(10))
    #expect(throws: CompressionError.self) { try Gzip.expand(known + [0], limitBytes: 100) }
  }

  @Test("Labels and hints are there in eight languages", .reference("ios/LOG-6"))
  func labels() {
    #expect(
      LogLanguage.allCases.map(\.rawValue) == ["en", "de", "fr", "es", "pt", "ja", "ru", "zh-Hant"])
    for language in LogLanguage.allCases {
      let texts = LogLabel.allCases.map { $0.text(language) }
      #expect(texts.allSatisfy { !$0.isEmpty } && Set(texts).count == texts.count)
    }
    #expect(LogLabel.export.text(.german) == "Senden" && LogLabel.title.text(.russian) == "Журнал")
    #expect(LogLanguage(preferred: ["it", "pt-BR"]) == .portuguese)
    #expect(LogLanguage(preferred: ["zh-Hans", "zh-TW"]) == .traditionalChinese)
    #expect(LogLanguage(preferred: ["zh-Hans"]) == .english)
  }

  @Test("Records go to the system's log when that is switched on", .reference("adr/LGA-9"))
  func system() throws {
    #if !canImport(os)
      let pipe = Pipe()
      let handler = SystemLogHandler(
        subsystem: "org.example", output: pipe.fileHandleForWriting)
      let log = makeLog(handlers: [handler])
      #expect(!handler.isOn)
      log.error("quiet")
      handler.isOn = true
      log.error("loud", file: "here", function: "", line: 0)
      try pipe.fileHandleForWriting.close()
      let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      #expect(text == "org.example: 1970-01-01 00:00:00.000 ERROR  here loud\n")
    #endif
  }
}

struct LogFileProblem: Error {}

@Suite("Log upload")
struct LogUploadTests {
  final class Receiver: LogReceiver {
    private let state = Mutex<(bodies: [[UInt8]], fails: Int)>(([], 0))
    var bodies: [String] {
      state.withLock { $0.bodies }.map { (try? LogExport.text(of: $0)) ?? "" }
    }
    func fail(_ count: Int) { state.withLock { $0.fails = count } }
    func send(_ body: [UInt8], contentType: String) async throws {
      #expect(contentType == "application/gzip")
      try state.withLock { state in
        if state.fails > 0 {
          state.fails -= 1
          throw LogFileProblem()
        }
        state.bodies.append(body)
      }
    }
  }

  @Test(
    "A handler sends records to a server, in bodies of 500, and keeps them until they are taken",
    .reference("adr/LGB-1")
  )
  func upload() async throws {
    let receiver = Receiver()
    let upload = LogUpload(to: receiver)
    let log = makeLog(handlers: [upload])
    for number in 1...501 { log.error("entry \(number)") }
    receiver.fail(1)
    let error = await #expect(throws: LogError.self) { try await upload.upload() }
    #expect(error?.code == .upload && upload.count == 501)
    #expect(try await upload.upload() == 501)
    #expect(upload.count == 0 && receiver.bodies.count == 2)
    #expect(
      receiver.bodies[0].hasSuffix(" entry 500\n") && receiver.bodies[1].hasSuffix(" entry 501\n"))
    #expect(try await upload.upload() == 0)
  }

  @Test("Beyond 10,000 that wait the oldest go, and the next body says how many")
  func bound() async throws {
    let receiver = Receiver()
    let upload = LogUpload(to: receiver)
    let log = makeLog(handlers: [upload])
    for number in 1...10_001 { log.error("entry \(number)") }
    #expect(upload.count == 9_801)
    #expect(try await upload.upload() == 9_801)
    #expect(receiver.bodies[0].hasSuffix("200 records were dropped before these\n"))
    #expect(receiver.bodies[1].hasSuffix(" entry 1200\n"))
  }
}
