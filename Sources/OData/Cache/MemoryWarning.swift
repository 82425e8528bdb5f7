#if canImport(Darwin)
  import Foundation

  extension ODataCache {
    /// Saves the cache at each memory warning of the system, as long as the returned object exists.
    /// If a save fails, `failed` gets the error.
    public func observeMemoryWarnings(
      failed: @escaping @Sendable (any Error) -> Void
    ) -> any NSObjectProtocol {
      // UIKit's name, so that this module needs no UIKit.
      let name = Notification.Name("UIApplicationDidReceiveMemoryWarningNotification")
      return NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
        [weak self] _ in
        do { try self?.handleMemoryWarning() } catch { failed(error) }
      }
    }
  }
#endif
