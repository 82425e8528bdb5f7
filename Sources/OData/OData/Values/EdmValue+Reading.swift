import FerryText

extension EdmValue {
  /// Reads the text that Atom, and strings of JSON, write for a primitive type.
  ///
  /// Returns nil when the text is no value of the type or out of its range. White space around
  /// anything but a string is allowed, as XML Schema does.
  public init?(text: String, type: EdmPrimitive) {
    var text = text
    guard let value = text.withUTF8({ EdmValue(bytes: $0, type: type) }) else { return nil }
    self = value
  }

  init?(bytes raw: UnsafeBufferPointer<UInt8>, type: EdmPrimitive) {
    if type == .string || type == .stream {
      guard let text = String(checking: raw) else { return nil }
      self = .string(text)
      return
    }
    var scan = EdmTextScanner(raw)
    switch type {
    case .boolean:
      guard let value = scan.boolean() else { return nil }
      self = .boolean(value)
    case .byte:
      guard let value = scan.integer().flatMap({ UInt8(exactly: $0) }) else { return nil }
      self = .byte(value)
    case .sbyte:
      guard let value = scan.integer().flatMap({ Int8(exactly: $0) }) else { return nil }
      self = .sbyte(value)
    case .int16:
      guard let value = scan.integer().flatMap({ Int16(exactly: $0) }) else { return nil }
      self = .int16(value)
    case .int32:
      guard let value = scan.integer().flatMap({ Int32(exactly: $0) }) else { return nil }
      self = .int32(value)
    case .int64:
      guard let value = scan.integer() else { return nil }
      self = .int64(value)
    case .single:
      guard let value: Float = scan.floating() else { return nil }
      self = .single(value)
    case .double:
      guard let value: Double = scan.floating() else { return nil }
      self = .double(value)
    case .decimal:
      guard let value = scan.decimal() else { return nil }
      self = .decimal(value)
    case .binary:
      guard let value = Base64.decodeLeniently(raw) else { return nil }
      self = .binary(value)
      return
    case .guid:
      guard let value = scan.guid() else { return nil }
      self = .guid(value)
    case .dateTime:
      guard let value = scan.dateTime() else { return nil }
      // A zone that should not be there: UTC is what services mean by it.
      if let offset = scan.offset(), offset != 0 { return nil }
      self = .dateTime(value)
    case .dateTimeOffset:
      guard let value = scan.dateTime() else { return nil }
      guard let offset = scan.isAtEnd ? 0 : scan.offset(),
        let whole = EdmDateTimeOffset(value, offsetMinutes: offset)
      else { return nil }
      self = .dateTimeOffset(whole)
    case .time:
      if let value = scan.duration() {
        self = .time(value)
      } else {
        // Some writers put a time of day where the protocol wants a duration.
        scan = EdmTextScanner(raw)
        guard let clock = scan.timeOfDay() else { return nil }
        self = .time(
          EdmDuration(
            seconds: UInt64(clock.secondsSinceMidnight), picoseconds: clock.picoseconds))
      }
    case .duration:
      guard let value = scan.duration() else { return nil }
      self = .duration(value)
    case .date:
      guard let value = scan.date() else { return nil }
      self = .date(value)
    case .timeOfDay:
      guard let value = scan.timeOfDay() else { return nil }
      self = .timeOfDay(value)
    default: return nil
    }
    if !scan.isAtEnd { return nil }
  }

  /// Reads `/Date(1234)/` and `/Date(1234+0060)/` of verbose JSON as the type asked for.
  init?(verboseDate text: String, type: EdmPrimitive?) {
    var text = text
    let found = text.withUTF8 { EdmTextScanner.whole($0) { $0.verboseDate() } }
    guard let found else { return nil }
    let (local, minutes) = found
    if type == .dateTimeOffset || (type != .dateTime && minutes != nil) {
      guard let whole = EdmDateTimeOffset(local, offsetMinutes: minutes ?? 0) else { return nil }
      self = .dateTimeOffset(whole)
    } else {
      self = .dateTime(local)
    }
  }
}
