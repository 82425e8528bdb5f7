extension FerryDatabase {
  /// Whether a saved change is submitted by itself; true unless `SessionSettings` says otherwise.
  ///
  /// With false the app collects its changes: they stay on the device until `submit`, `submitPending`
  /// or `submitPendingOperations`. `save(.now)` and `save(.later)` say it for one change, and
  /// `transaction(submitting:)` for several. A change of this property holds for saves that begin
  /// afterwards.
  public var submitsAutomatically: Bool {
    get { store.submitsAutomatically.withLock { $0 } }
    set { store.submitsAutomatically.withLock { $0 = newValue } }
  }
}
