import FerryConnector
import FerryWorld

/// What happens in a room of the service, for the rooms above it and for the driver. It is collected
/// in the core, and handed out at the end of the call.
package enum ServiceEvent {
  /// A transaction has changed partitions or answered operations. `since`: the business system may
  /// have had the changes since then.
  case changed(partitions: Set<Int64>, answered: [AnsweredOperation], since: Timestamp?)
  /// Operations of these devices were answered, and not by another package.
  case answered(Set<Owner>)
  /// Another package has answered operations of these devices.
  case answeredElsewhere(Set<Owner>)
  /// The store was restored or has another leader: what is known of it does not hold.
  case newEra
  /// The open exchanges of the user look at the rights again.
  case rightsChanged(user: String)
  /// The open exchanges of the user end, on one device or on all.
  case accessEnded(user: String, device: String?)
  /// The settings of all devices have changed, or those of one.
  case settingsChanged(Owner?)
  /// An operator wants something done with refused operations of the device.
  case corrected(Owner)
  /// Its device has said what became of it.
  case correctionEnded(StoredCorrection)
  /// A look at the business system has ended or come further.
  case looked

  /// The exchange has something new since it said `.waiting`.
  case stirred(ExchangeID)
  /// Operations to perform have come in another package's request.
  case arrived
  /// The store failed, beside the error that is thrown.
  case storeFailed(ServerError)
  /// A session has ended; no device: all sessions of the user.
  case sessionEnded(user: String, device: String?, reason: String)
  /// A refresh token was presented once more: an answer was lost, or it is in two hands.
  case tokenRepeated(user: String, device: String)
  /// An operation that the user's rights refused is answered.
  case operationRefused(Owner, ConnectorOperation, reason: String)
}

/// The events of a call, in the order in which they came.
struct ServiceEvents {
  private var events: [ServiceEvent] = []
  private var handedOut: Int = 0

  mutating func add(_ event: ServiceEvent) { events.append(event) }

  /// The next one, once; nil where all are handed out.
  mutating func next() -> ServiceEvent? {
    guard handedOut < events.count else {
      if handedOut > 0 { self = ServiceEvents() }
      return nil
    }
    defer { handedOut += 1 }
    return events[handedOut]
  }
}
