import Ferry

/// A property of a SwiftUI view with the result of a live query: the view is drawn again when rows
/// change.
///
/// ```swift
/// struct FullFlights: View {
///   @Live(Flight.self, where: Flight.Attributes.seatsLeft < 10) var flights
///
///   var body: some View {
///     if $flights.isLoading { ProgressView() }
///     if let failure = $flights.failure { Text(failure.message) }
///     List(flights) { flight in Text(flight.destination) }
///   }
/// }
/// ```
/// The database is the one that a view above gives with `.ferryDatabase(database)`, or that the
/// property names (`in: database`). The query runs from the moment when the view is drawn first until
/// the view goes, on a thread of Ferry's own. `$flights` is a `LiveFollower`: whether it is loading, and
/// its error.
///
/// A property that the view's initializer makes anew, such as for another search text, ends the old
/// query and begins the new one; an equal query goes on.
@propertyWrapper public struct Live<Value: Sendable> {
  @ViewEnvironment(\.liveDatabase) private var given
  @ViewState private var follower: LiveFollower<Value>
  private let request: LiveRequest<Value>
  private let database: FerryDatabase?

  init(_ request: LiveRequest<Value>, in database: FerryDatabase?) {
    self.request = request
    self.database = database
    _follower = ViewState(wrappedValue: LiveFollower(initially: request.initial))
  }

  /// The latest value; an empty list, or what the property begins with, before the query was read.
  @MainActor public var wrappedValue: Value { follower.value }

  /// Whether it is loading, and why it failed.
  @MainActor public var projectedValue: LiveFollower<Value> { follower }
}

extension Live: ViewProperty {
  /// Follows what the property asks for now; SwiftUI calls this before it draws the view.
  public nonisolated func update() {
    let (follower, request) = (follower, request)
    let place = database.map(LiveDatabase.open) ?? given
    MainActor.assumeIsolated { follower.follow(request, in: place) }
  }
}
