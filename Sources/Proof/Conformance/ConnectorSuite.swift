import FerryConnector
import FerryModel

/// What every connector must do, on a small business of carriers, flights and bookings.
///
/// The stage holds `package` with `rows` and two rules: a new booking lowers the flight's
/// `seatsLeft` by one; on a flight without seats it is refused with `noSeat`. Required attributes
/// and relationships are kept by the business system.
public enum ConnectorSuite {
  public static let carrier: Entity = Entity(
    name: "Carrier", table: "Carriers",
    attributes: [
      Attribute(name: "carrierID", column: "CarrierID", type: .string, isNullable: false),
      Attribute(name: "name", column: "Name", type: .string, isNullable: false),
    ],
    key: [0], keyOrigin: .app, relationships: [], operations: Set(OperationKind.allCases),
    partition: nil, group: "all")

  public static let flight: Entity = Entity(
    name: "Flight", table: "Flights",
    attributes: [
      Attribute(name: "flightID", column: "FlightID", type: .int, isNullable: false),
      Attribute(name: "carrierID", column: "CarrierID", type: .string, isNullable: false),
      Attribute(name: "seatsLeft", column: "SeatsLeft", type: .int, isNullable: false),
    ],
    key: [0], keyOrigin: .businessSystem,
    relationships: [
      Relationship(
        name: "carrier", target: "Carrier", attributes: ["carrierID"],
        targetAttributes: ["carrierID"])
    ], operations: Set(OperationKind.allCases), partition: nil, group: "all")

  public static let booking: Entity = Entity(
    name: "Booking", table: "Bookings",
    attributes: [
      Attribute(name: "bookingID", column: "BookingID", type: .long, isNullable: false),
      Attribute(name: "flightID", column: "FlightID", type: .int, isNullable: false),
      Attribute(name: "passenger", column: "Passenger", type: .string, isNullable: false),
      Attribute(name: "price", column: "Price", type: .decimal, isNullable: true),
      Attribute(
        name: "bookedAt", column: "BookedAt", type: .dateTime, isNullable: true, stored: .space),
      Attribute(name: "isPaid", column: "IsPaid", type: .boolean, isNullable: true),
    ],
    key: [0], keyOrigin: .businessSystem,
    relationships: [
      Relationship(
        name: "flight", target: "Flight", attributes: ["flightID"], targetAttributes: ["flightID"])
    ], operations: Set(OperationKind.allCases), partition: nil, group: "all")

  public static let package: Package = Package(
    name: "suite", version: "1.0", entities: [carrier, flight, booking],
    groups: [SynchronizationGroup(name: "all")])

  /// With two big values; for connectors that keep such.
  public static let document: Entity = Entity(
    name: "Document", table: "Documents",
    attributes: [
      Attribute(name: "documentID", column: "DocumentID", type: .long, isNullable: false),
      Attribute(name: "title", column: "Title", type: .string, isNullable: false),
      Attribute(name: "scan", column: "Scan", type: .bigBinary, isNullable: true),
      Attribute(name: "report", column: "Report", type: .bigString, isNullable: true),
    ],
    key: [0], keyOrigin: .app, relationships: [], operations: Set(OperationKind.allCases),
    partition: nil, group: "all")

  public static let packageWithContents: Package = Package(
    name: "suite", version: "1.0", entities: package.entities + [document], groups: package.groups)

  /// Parents before children.
  public static let rows: [(entity: Entity, values: [[AttributeValue]])] = [
    (carrier, [[.text("AZ"), .text("Alitalia")], [.text("LH"), .text("Lufthansa")]]),
    (
      flight,
      [
        [.integer(17), .text("LH"), .integer(2)], [.integer(18), .text("LH"), .integer(0)],
      ]
    ),
    (
      booking,
      [
        [
          .integer(1), .integer(17), .text("Ann"), .text("99.95"), .text("2026-03-01T08:30:00"),
          .boolean(true),
        ],
        [.integer(2), .integer(18), .text("Bob \"B\" Ö"), .null, .null, .null],
      ]
    ),
  ]

  public static func noSeat(flight: String) -> String { "Flight \(flight) has no seat left" }

  public static let cases: [ConnectorCase] =
    changes + refusals + rights + memory + looking + abilities + contents + unfit + users

  static let seventeen: ObjectKey = ObjectKey([.integer(17)])
  static let eighteen: ObjectKey = ObjectKey([.integer(18)])
  static let ann: ObjectKey = ObjectKey([.integer(1)])
}
