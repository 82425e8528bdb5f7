extension Flight {
  /// How people speak of it: `LH 400, FRA to JFK`. An app adds to a generated type like this.
  public var title: String { "\(carrierID) \(number), \(origin) to \(destination)" }
}
