/// One method for each severity; the location is that of the caller.
extension DeviceLog {
  /// Says that the app cannot go on.
  @inline(__always)
  public func emergency(
    _ message: @autoclosure () -> String, tag: String = "", component: String = "",
    error: (any Error)? = nil, correlationID: String? = nil, file: String = #fileID,
    function: String = #function, line: Int = #line
  ) {
    log(
      .emergency, message(), tag: tag, component: component, error: error,
      correlationID: correlationID, file: file, function: function, line: line)
  }

  /// Says that somebody must act at once.
  @inline(__always)
  public func alert(
    _ message: @autoclosure () -> String, tag: String = "", component: String = "",
    error: (any Error)? = nil, correlationID: String? = nil, file: String = #fileID,
    function: String = #function, line: Int = #line
  ) {
    log(
      .alert, message(), tag: tag, component: component, error: error,
      correlationID: correlationID, file: file, function: function, line: line)
  }

  /// Says that a part has failed for good.
  @inline(__always)
  public func critical(
    _ message: @autoclosure () -> String, tag: String = "", component: String = "",
    error: (any Error)? = nil, correlationID: String? = nil, file: String = #fileID,
    function: String = #function, line: Int = #line
  ) {
    log(
      .critical, message(), tag: tag, component: component, error: error,
      correlationID: correlationID, file: file, function: function, line: line)
  }

  /// Says that something was not done.
  @inline(__always)
  public func error(
    _ message: @autoclosure () -> String, tag: String = "", component: String = "",
    error: (any Error)? = nil, correlationID: String? = nil, file: String = #fileID,
    function: String = #function, line: Int = #line
  ) {
    log(
      .error, message(), tag: tag, component: component, error: error,
      correlationID: correlationID, file: file, function: function, line: line)
  }

  /// Says that something may go wrong if it goes on.
  @inline(__always)
  public func warning(
    _ message: @autoclosure () -> String, tag: String = "", component: String = "",
    error: (any Error)? = nil, correlationID: String? = nil, file: String = #fileID,
    function: String = #function, line: Int = #line
  ) {
    log(
      .warning, message(), tag: tag, component: component, error: error,
      correlationID: correlationID, file: file, function: function, line: line)
  }

  /// Says that something worth knowing in normal work.
  @inline(__always)
  public func notice(
    _ message: @autoclosure () -> String, tag: String = "", component: String = "",
    error: (any Error)? = nil, correlationID: String? = nil, file: String = #fileID,
    function: String = #function, line: Int = #line
  ) {
    log(
      .notice, message(), tag: tag, component: component, error: error,
      correlationID: correlationID, file: file, function: function, line: line)
  }

  /// Says what an operator wants to read when all is well.
  @inline(__always)
  public func info(
    _ message: @autoclosure () -> String, tag: String = "", component: String = "",
    error: (any Error)? = nil, correlationID: String? = nil, file: String = #fileID,
    function: String = #function, line: Int = #line
  ) {
    log(
      .info, message(), tag: tag, component: component, error: error,
      correlationID: correlationID, file: file, function: function, line: line)
  }

  /// Says what helps to understand a fault.
  @inline(__always)
  public func debug(
    _ message: @autoclosure () -> String, tag: String = "", component: String = "",
    error: (any Error)? = nil, correlationID: String? = nil, file: String = #fileID,
    function: String = #function, line: Int = #line
  ) {
    log(
      .debug, message(), tag: tag, component: component, error: error,
      correlationID: correlationID, file: file, function: function, line: line)
  }

  /// Says each step.
  @inline(__always)
  public func trace(
    _ message: @autoclosure () -> String, tag: String = "", component: String = "",
    error: (any Error)? = nil, correlationID: String? = nil, file: String = #fileID,
    function: String = #function, line: Int = #line
  ) {
    log(
      .trace, message(), tag: tag, component: component, error: error,
      correlationID: correlationID, file: file, function: function, line: line)
  }
}
