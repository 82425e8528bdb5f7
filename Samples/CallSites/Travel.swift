// What the generator would write for the entity Booking.
public import Ferry

public enum Travel {
  public static func open(
    at path: String, server: String
  ) async throws(FerryError)
    -> FerryDatabase
  {
    declaration()
  }
}

public struct Booking: BusinessObject {
  public static let entityName = "Booking"
  public let id = ObjectIdentity()
  /// BookingID, assigned by the business system; nil until then.
  public internal(set) var bookingID: Int64?
  /// Passenger, text, required.
  public var passenger: String
  /// Seats, integer, required.
  public var seats: Int32

  public init(passenger: String, seats: Int32 = 1, in database: FerryDatabase) {
    (self.passenger, self.seats) = (passenger, seats)
  }

  public enum Attributes {
    public static let passenger = AttributeOf<Booking, String>()
    public static let seats = AttributeOf<Booking, Int32>()
  }
}
