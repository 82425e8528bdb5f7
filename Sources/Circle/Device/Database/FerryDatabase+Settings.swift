/// What the server's connection template says.
extension FerryDatabase {
  /// The latest settings that the server's connection template gives this device; none before the
  /// device is registered, or if no template matches. `settingsChanged` reports each
  /// change.
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
