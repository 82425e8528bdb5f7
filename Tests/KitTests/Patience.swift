import Foundation

/// Ends a wait for what never comes. Only a failure lasts so long, on a machine however slow and busy.
enum Patience {
  /// When a wait that begins now ends.
  static var end: Date { Date(timeIntervalSinceNow: 600) }
}
