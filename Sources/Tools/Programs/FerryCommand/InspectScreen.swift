import Ferry
import FerryInspection
import FerryJSON
import FerryModel
import FerryWire
import FerryWorld

/// What the live view shows, as lines that fit the terminal.
struct InspectScreen {
  let name: String
  let width: Int
  let height: Int
  /// In milliseconds since 1970.
  let now: Int64

  /// How many operations and log records are read for it; it never shows more.
  static let limit = 200

  /// At most `height` lines of at most `width` columns each. Where there is no room, what comes
  /// last is cut, and counts say how much there is.
  func lines(_ inspection: DeviceInspection, problem: String? = nil) -> [String] {
    var lines = [
      spread("ferry inspect \(name)", "\(Self.time(now))  q quits"),
      "\(inspection.package)  \(InspectCommand.user(inspection))  "
        + inspection.subscription.rawValue,
    ]
    if let problem { lines.append("! \(problem)") }
    lines += section("subscriptions", inspection.groups.map(line), limit: 6)
    let sets = inspection.parameterSets.map { "parameters \($0)" }
    lines += section(nil, partitions(inspection) + sets, limit: 4)
    lines += section("objects", columns(inspection.entities), limit: max(2, height / 5))
    let rest = max(2, (height - lines.count - 2) / 2)
    lines += section(
      "pending operations: \(inspection.operationCount)\(uploads(inspection))",
      inspection.operations.map(line),
      limit: rest, of: inspection.operationCount)
    lines += section(
      "log records: \(inspection.logRecordCount)\(ofApp(inspection))",
      inspection.logRecords.reversed().map(record),
      limit: max(1, height - lines.count - 1), of: inspection.logRecordCount)
    return lines.prefix(height).map { Self.cut($0, to: width) }
  }

  private func section(
    _ title: String?, _ content: [String], limit: Int, of total: Int64? = nil
  ) -> [String] {
    let head = title.map {
      ["── \($0) " + String(repeating: "─", count: max(0, width - $0.count - 4))]
    }
    let total = total ?? Int64(content.count)
    guard total > limit else { return (head ?? []) + content.map { "  \($0)" } }
    let shown = content.prefix(max(0, limit - 1)).map { "  \($0)" }
    return (head ?? []) + shown + ["  … \(total - Int64(shown.count)) more"]
  }

  private func line(_ group: DeviceInspection.GroupView) -> String {
    let imported =
      group.imported.map { "imported \(age($0)) ago" }
      ?? (group.era == nil ? "not imported yet" : "imported")
    return "group \(group.name)  version \(group.version)  \(imported)"
  }

  private func partitions(_ inspection: DeviceInspection) -> [String] {
    guard !inspection.partitions.isEmpty else {
      return inspection.getsNothing ? ["no partitions: look at the user's claims"] : []
    }
    let rows = inspection.partitions.reduce(0) { $0 + $1.count }
    let under = inspection.partitions.count { $0.staged != $0.cursor }
    return [
      "\(inspection.partitions.count) partitions, \(rows) rows"
        + (under > 0 ? ", \(under) being downloaded" : "")
    ]
  }

  private func uploads(_ inspection: DeviceInspection) -> String {
    let left = inspection.uploads.filter { !$0.isDone }
    guard !left.isEmpty else { return "" }
    let bytes = left.reduce(0) { $0 + $1.size }
    return ", \(left.count) contents of \(bytes) bytes to upload"
  }

  private func ofApp(_ inspection: DeviceInspection) -> String {
    let count = inspection.appLogRecordCount
    return count == 0 ? "" : ", \(count) of the app not sent"
  }

  private func columns(_ entities: [DeviceInspection.EntityCount]) -> [String] {
    let texts = entities.map { entity in
      "\(entity.entity) \(entity.visible)"
        + (entity.pending > 0 ? " (\(entity.pending) pending)" : "")
    }
    let column = max(20, (texts.map { Self.columns(of: $0) }.max() ?? 0) + 2)
    let perLine = max(1, (width - 2) / column)
    return stride(from: 0, to: texts.count, by: perLine).map { start in
      texts[start..<min(texts.count, start + perLine)].map {
        $0 + String(repeating: " ", count: max(0, column - Self.columns(of: $0)))
      }.joined()
    }
  }

  private func line(_ operation: DeviceInspection.OperationView) -> String {
    let state = operation.isAcknowledged ? "\(operation.state), received" : operation.state
    return "\(operation.kind) \(operation.entity) \(operation.key)  \(state)  "
      + "\(age(operation.made))  \(operation.changed)"
  }

  private func record(_ text: String) -> String {
    guard let record = try? LogRecord(json: Array(text.utf8)) else { return text }
    return "\(age(record.timestamp))  \(record.level.rawValue) \(record.code)  "
      + "\(record.operation?.rawValue ?? "") \(record.component) \(record.entityKey)  \(record.message)"
  }

  private func spread(_ left: String, _ right: String) -> String {
    let room = width - Self.columns(of: right) - 1
    let left = Self.cut(left, to: max(0, room))
    return left + String(repeating: " ", count: max(1, room + 1 - Self.columns(of: left))) + right
  }

  private func age(_ moment: Int64) -> String {
    let seconds = max(0, (now - moment) / 1_000)
    return switch seconds {
    case ..<120: "\(seconds) s"
    case ..<7_200: "\(seconds / 60) min"
    case ..<172_800: "\(seconds / 3_600) h"
    default: "\(seconds / 86_400) d"
    }
  }

  /// The time of day, in UTC.
  private static func time(_ milliseconds: Int64) -> String {
    let seconds = milliseconds / 1_000 % 86_400
    let parts = [seconds / 3_600, seconds / 60 % 60, seconds % 60]
    return parts.map { $0 < 10 ? "0\($0)" : String($0) }.joined(separator: ":") + " UTC"
  }

  // Columns.

  /// As many letters as fit; what would move the terminal's cursor is shown as a point.
  static func cut(_ text: String, to width: Int) -> String {
    var used = 0
    var shown = ""
    for character in text {
      let isControl = character.unicodeScalars.contains { isUnseen($0) }
      let character: Character = isControl ? "·" : character
      let columns = columns(of: character)
      guard used + columns <= width else {
        while used + 1 > width, let last = shown.popLast() { used -= Self.columns(of: last) }
        return width > 0 ? shown + "…" : shown
      }
      used += columns
      shown.append(character)
    }
    return shown
  }

  private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    // A joiner stands inside emoji; all else of its kind turns or hides text.
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: true
    case .format: scalar.value != 0x200D
    default: false
    }
  }

  static func columns(of text: String) -> Int { text.reduce(0) { $0 + columns(of: $1) } }

  /// Two for what East Asian terminals show wide.
  private static func columns(of character: Character) -> Int {
    guard let first = character.unicodeScalars.first?.value else { return 0 }
    return switch first {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      2
    default: 1
    }
  }
}
