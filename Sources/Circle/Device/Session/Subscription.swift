import FerrySQLite

/// What the settings say of this device's subscription.
package struct SubscriptionSettings {
  let transaction: Transaction

  package init(_ transaction: Transaction) { self.transaction = transaction }

  /// Notes that a subscription waits for the server's word. False when it does already or was
  /// accepted: subscribing twice asks once (sync/M23).
  package func begin() throws(FerryError) -> Bool {
    guard try transaction.setting(.subscribed) == nil,
      try transaction.setting(.subscribing) == nil
    else { return false }
    try transaction.set(.subscribing, "yes")
    return true
  }

  /// The server has accepted; false when nothing waited for that.
  func end() throws(FerryError) -> Bool {
    guard try transaction.setting(.subscribing) != nil else { return false }
    try transaction.set(.subscribing, nil)
    try transaction.set(.subscribed, "yes")
    return true
  }

  /// Whether data is or will be asked for.
  package func wantsData() throws(FerryError) -> Bool {
    guard try !isSuspended() else { return false }
    let subscribed = try transaction.setting(.subscribed)
    let subscribing = try transaction.setting(.subscribing)
    return subscribed != nil || subscribing != nil
  }

  /// Whether the app asks for data; what is suspended is still subscribed.
  func isAskedFor() throws(FerryError) -> Bool {
    if try transaction.setting(.subscribed) != nil { return true }
    return try transaction.setting(.subscribing) != nil
  }

  package func isSuspended() throws(FerryError) -> Bool {
    try transaction.setting(.suspended) != nil
  }
}
