import FerryPostgreSQL
import FerryServer

extension PostgreSQLStore {
  private static let columns = """
    user_name, device, incarnation, model, hardware, system, library, first_seen, last_seen,
    pending, cursors, state, reason, receipt, with_pending, template, subscription, parameters,
    log_level
    """

  package func registeredDevices() throws(StoreError) -> [RegisteredDevice] {
    let rows = try rows(
      """
      SELECT \(PostgreSQLStore.columns) FROM ferry_store.registered_device
      ORDER BY user_name, last_seen DESC, device
      """)
    return (0..<rows.count).compactMap { PostgreSQLStore.device(rows, $0) }
  }

  package func registeredDevice(_ owner: Owner) throws(StoreError) -> RegisteredDevice? {
    let rows = try rows(
      """
      SELECT \(PostgreSQLStore.columns) FROM ferry_store.registered_device
      WHERE user_name = $1 AND device = $2
      """, [.exact(owner.user), .exact(owner.device)])
    return rows.count == 1 ? PostgreSQLStore.device(rows, 0) : nil
  }

  package func keep(_ device: RegisteredDevice) throws(StoreError) {
    try write(
      """
      INSERT INTO ferry_store.registered_device (\(PostgreSQLStore.columns))
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
      ON CONFLICT (user_name, device) DO UPDATE SET incarnation = excluded.incarnation,
        model = excluded.model, hardware = excluded.hardware, system = excluded.system,
        library = excluded.library, last_seen = excluded.last_seen, pending = excluded.pending,
        cursors = excluded.cursors, state = excluded.state, reason = excluded.reason,
        receipt = excluded.receipt, with_pending = excluded.with_pending,
        template = excluded.template, subscription = excluded.subscription,
        parameters = excluded.parameters, log_level = excluded.log_level
      """,
      [
        .exact(device.user), .exact(device.device), .exact(device.incarnation),
        .exact(device.model), .exact(device.hardware), .exact(device.system),
        .exact(device.library), .integer(device.firstSeen), .integer(device.lastSeen),
        device.pending.map { .integer($0) } ?? .null, .exact(device.cursors),
        .exact(device.state.rawValue), .exact(device.reason), .exact(device.receipt),
        .flag(device.withPending), .exact(device.template), .exact(device.subscription),
        .exact(device.parameters), .exact(device.logLevel),
      ])
  }

  package func keep(seen devices: [SeenDevice]) throws(StoreError) {
    try write(
      devices.map { device in
        PostgreSQLConnection.Request(
          """
          UPDATE ferry_store.registered_device SET last_seen = $3, pending = $4, cursors = $5
          WHERE user_name = $1 AND device = $2
          """,
          [
            .exact(device.owner.user), .exact(device.owner.device), .integer(device.lastSeen),
            device.pending.map { .integer($0) } ?? .null, .exact(device.cursors),
          ])
      })
  }

  package func forgetRegistered(_ owner: Owner) throws(StoreError) {
    try write(
      """
      WITH waiting AS (
        DELETE FROM ferry_store.payload WHERE user_name = $1 AND device = $2)
      DELETE FROM ferry_store.registered_device WHERE user_name = $1 AND device = $2
      """, [.exact(owner.user), .exact(owner.device)])
  }

  private static func device(_ rows: PostgreSQLRows, _ row: Int) -> RegisteredDevice? {
    guard let user = rows.exact(row, 0), let name = rows.exact(row, 1) else { return nil }
    var device = RegisteredDevice(user: user, device: name)
    device.incarnation = rows.exact(row, 2) ?? ""
    device.model = rows.exact(row, 3) ?? ""
    device.hardware = rows.exact(row, 4) ?? ""
    device.system = rows.exact(row, 5) ?? ""
    device.library = rows.exact(row, 6) ?? ""
    device.firstSeen = rows.integer(row, 7) ?? 0
    device.lastSeen = rows.integer(row, 8) ?? 0
    device.pending = rows.integer(row, 9)
    device.cursors = rows.exact(row, 10) ?? "[]"
    device.state = rows.exact(row, 11).flatMap(RegisteredDevice.State.init) ?? .active
    device.reason = rows.exact(row, 12) ?? ""
    device.receipt = rows.exact(row, 13)
    device.withPending = rows.flag(row, 14)
    device.template = rows.exact(row, 15)
    device.subscription = rows.exact(row, 16)
    device.parameters = rows.exact(row, 17) ?? "[]"
    device.logLevel = rows.exact(row, 18)
    return device
  }
}
