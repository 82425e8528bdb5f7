/// One method for each severity; the location is that of the caller.
extension DeviceLog {
  /// Logs that the app cannot continue.
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

  /// Logs a problem that needs action at once.
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

  /// Logs that a part has failed and does not recover.
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

  /// Logs that an action failed.
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

  /// Logs a risk of a later failure.
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

  /// Logs an important event of normal work.
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

  /// Logs information for an operator about normal work.
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

  /// Logs details that help to find a fault.
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

  /// Logs a single step.
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
