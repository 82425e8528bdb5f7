import FerryModel
import FerryWire

/// A log record of a device, as the operator sees it (`ferry log`).
package struct DeviceReport: Sendable, Equatable {
  /// The store's own, in the order in which they came.
  package let number: Int64
  package let package: String
  package let device: String
  package let user: String
  package let record: LogRecord

  /// Which of them; everything that is given must hold.
  package struct Question: Sendable {
    package var user: String?
    package var device: String?
    package var component: String?
    /// This level or a graver one.
    package var atLeast: LogRecord.Level = .trace
    package var id: OperationID?
    package var take: Int = 100

    package init() {}

    /// The names of the levels that are taken.
    package var levels: [String] {
      LogRecord.Level.allCases.drop { $0 != atLeast }.map(\.rawValue)
    }
  }

  package init(number: Int64, package: String, device: String, user: String, record: LogRecord) {
    self.number = number
    self.package = package
    self.device = device
    self.user = user
    self.record = record
  }
}
