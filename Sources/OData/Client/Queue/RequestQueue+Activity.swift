/// The sign of network activity that an app shows.
extension RequestQueue {
  /// Switches the reports of `networkActivity` off or on. Off hides the sign: false is reported.
  public func setReportsNetworkActivity(_ isOn: Bool) {
    reportsNetworkActivity = isOn
    reportActivity()
  }

  /// Whether a sign of network activity is to be shown: now, and after each change.
  public func networkActivity() -> AsyncStream<Bool> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Bool.self, bufferingPolicy: .bufferingNewest(1))
    lastID += 1
    let id = lastID
    signs[id] = continuation
    continuation.onTermination = { [weak self] _ in
      Task { await self?.forgetSign(id) }
    }
    continuation.yield(isActivityShown)
    if isTerminated && !isNetworkInUse { continuation.finish() }
    return stream
  }

  private var isActivityShown: Bool { reportsNetworkActivity && isNetworkInUse }

  func reportActivity() {
    guard isActivityShown != wasActivityShown else { return }
    wasActivityShown = isActivityShown
    for sign in signs.values { sign.yield(wasActivityShown) }
  }

  private func forgetSign(_ id: Int) { signs[id] = nil }
}
