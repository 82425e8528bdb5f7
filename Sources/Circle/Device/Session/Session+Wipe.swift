import FerryWire

/// The data of the device is to be destroyed by order of its operator.
extension Session {
  /// The effect of the order on this device, and how many changes it would destroy.
  package func accept(_ order: WipeOrder) throws(FerryError) -> (wipe: Wipe, pending: Int64) {
    requests.wipe = nil
    let wipe = Wipe(
      path: store.path, user: try store.setting(.user) ?? "", device: order.device,
      receipt: order.receipt)
    return (
      wipe,
      try store.withSnapshot { transaction throws(FerryError) in
        try PendingCount(transaction).all()
      }
    )
  }

  /// The order does not include the changes that are pending here.
  func refuseWipe(_ error: FerryError) throws(FerryError) {
    core.lastFailure = error
    try core.postState()
    core.announcements.locked(error)
  }

  /// The app hears why its data is destroyed.
  func announceWipe(_ error: FerryError) throws(FerryError) {
    core.lastFailure = error
    try core.postState()
    core.announcements.signInFailed(error)
  }
}
