/// What the server's connection template says (sync/I2, facts/2.10).
extension Database {
  /// The settings that the server's connection template gives this device, as they came last; none
  /// before the device is registered, or where no template matches. `onApplicationSettingsChanged`
  /// tells of each change.
  ///
  /// ```swift
  /// let color = try database.applicationSettings.text("custom.color") ?? "blue"
  /// ```
  public var applicationSettings: ApplicationSettings {
    get throws(FerryError) {
      try store.withSnapshot { transaction throws(FerryError) in
        try ApplicationSettings.kept(transaction)
      }
    }
  }
}
