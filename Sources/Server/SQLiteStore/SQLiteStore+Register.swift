import FerrySQLite
import FerryServer

extension SQLiteStore {
  private static let columns = """
    user, device, incarnation, model, hardware, system, library, first_seen, last_seen, pending,
    cursors, state, reason, receipt, with_pending, template, subscription, parameters,
    log_level
    """

  package func registeredDevices() throws(StoreError) -> [RegisteredDevice] {
    try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT \(SQLiteStore.columns) FROM registered_device
        ORDER BY user, last_seen DESC, device
        """)
    }.compactMap(SQLiteStore.device)
  }

  package func registeredDevice(_ owner: Owner) throws(StoreError) -> RegisteredDevice? {
    try sql { () throws(SQLiteError) in
      try writer.row(
        """
        SELECT \(SQLiteStore.columns) FROM registered_device
        WHERE user = ? AND device = ?
        """, .text(owner.user.text), .text(owner.device.text))
    }.flatMap(SQLiteStore.device)
  }

  package func keep(_ device: RegisteredDevice) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        """
        INSERT INTO registered_device (\(SQLiteStore.columns))
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (user, device) DO UPDATE SET incarnation = excluded.incarnation,
          model = excluded.model, hardware = excluded.hardware, system = excluded.system,
          library = excluded.library, first_seen = excluded.first_seen,
          last_seen = excluded.last_seen, pending = excluded.pending,
          cursors = excluded.cursors, state = excluded.state, reason = excluded.reason,
          receipt = excluded.receipt, with_pending = excluded.with_pending,
          template = excluded.template, subscription = excluded.subscription,
          parameters = excluded.parameters, log_level = excluded.log_level
        """, .text(device.user), .text(device.device), .text(device.incarnation),
        .text(device.model), .text(device.hardware), .text(device.system),
        .text(device.library), .integer(device.firstSeen), .integer(device.lastSeen),
        device.pending.map(SQLiteValue.integer) ?? .null, .text(device.cursors),
        .text(device.state.rawValue), .text(device.reason), .optional(device.receipt),
        .integer(device.withPending ? 1 : 0), .optional(device.template),
        .optional(device.subscription), .text(device.parameters), .optional(device.logLevel))
    }
  }

  package func keep(seen devices: [SeenDevice]) throws(StoreError) {
    try transaction { () throws(StoreError) in
      try sql { () throws(SQLiteError) in
        for device in devices {
          try writer.run(
            """
            UPDATE registered_device SET last_seen = ?, pending = ?, cursors = ?
            WHERE user = ? AND device = ?
            """, .integer(device.lastSeen), device.pending.map(SQLiteValue.integer) ?? .null,
            .text(device.cursors), .text(device.owner.user.text),
            .text(device.owner.device.text))
        }
      }
    }
  }

  package func forgetRegistered(_ owner: Owner) throws(StoreError) {
    try transaction { () throws(StoreError) in
      try sql { () throws(SQLiteError) in
        try writer.run(
          "DELETE FROM registered_device WHERE user = ? AND device = ?",
          .text(owner.user.text), .text(owner.device.text))
        try writer.run(
          "DELETE FROM payload WHERE user = ? AND device = ?",
          .text(owner.user.text), .text(owner.device.text))
      }
    }
  }

  private static func device(_ row: [SQLiteValue]) -> RegisteredDevice? {
    guard let user = row[0].text, let name = row[1].text else { return nil }
    var device = RegisteredDevice(user: user, device: name)
    device.incarnation = row[2].text ?? ""
    device.model = row[3].text ?? ""
    device.hardware = row[4].text ?? ""
    device.system = row[5].text ?? ""
    device.library = row[6].text ?? ""
    device.firstSeen = row[7].integer ?? 0
    device.lastSeen = row[8].integer ?? 0
    device.pending = row[9].integer
    device.cursors = row[10].text ?? "[]"
    device.state = row[11].text.flatMap(RegisteredDevice.State.init) ?? .active
    device.reason = row[12].text ?? ""
    device.receipt = row[13].text
    device.withPending = row[14].integer == 1
    device.template = row[15].text
    device.subscription = row[16].text
    device.parameters = row[17].text ?? "[]"
    device.logLevel = row[18].text
    return device
  }
}
