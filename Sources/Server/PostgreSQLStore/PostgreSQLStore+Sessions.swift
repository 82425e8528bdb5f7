import FerryModel
import FerryPostgreSQL
import FerryServer
import FerryWire

extension PostgreSQLStore {
  /// The day by which all nodes count, for `SELECT`s without a table.
  static let today: String = "(SELECT days FROM ferry_store.server)"

  package func session(_ id: String) throws(StoreError) -> StoredSession? {
    let rows = try rows(
      """
      SELECT user_name, device, used, begun, renewed, stamp, ended FROM ferry_store.session
      WHERE id = $1
      """, [.exact(id)])
    guard rows.count == 1, let user = rows.exact(0, 0), let device = rows.exact(0, 1),
      let used = rows.integer(0, 2), let begun = rows.integer(0, 3),
      let renewed = rows.integer(0, 4)
    else { return nil }
    return StoredSession(
      id: id, user: user, device: device, used: used, begun: begun, renewed: renewed,
      stamp: rows.exact(0, 5) ?? "", ended: rows.exact(0, 6))
  }

  package func hasSession(user: String, device: String) throws(StoreError) -> Bool {
    try rows(
      """
      SELECT 1 FROM ferry_store.session WHERE user_name = $1 AND device = $2 AND ended IS NULL
      LIMIT 1
      """, [.exact(user), .exact(device)]
    ).count > 0
  }

  package func keep(_ session: StoredSession) throws(StoreError) {
    // Two nodes may renew at once: what one has seen the other does not take back.
    try write([
      PostgreSQLConnection.Request(
        """
        \(PostgreSQLStore.countSessionChange) WHERE EXISTS (
          SELECT FROM ferry_store.session
          WHERE id = $1 AND (stamp <> $2 OR $3::text IS NOT NULL))
        """, [.exact(session.id), .exact(session.stamp), .exact(session.ended)]),
      PostgreSQLConnection.Request(
        """
        INSERT INTO ferry_store.session AS s
          (id, user_name, device, used, begun, renewed, stamp, ended)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (id) DO UPDATE SET used = greatest(s.used, excluded.used),
          renewed = greatest(s.renewed, excluded.renewed), stamp = excluded.stamp,
          ended = coalesce(s.ended, excluded.ended)
        """,
        [
          .exact(session.id), .exact(session.user), .exact(session.device),
          .integer(session.used), .integer(session.begun), .integer(session.renewed),
          .exact(session.stamp), .exact(session.ended),
        ]),
    ])
  }

  private static let countSessionChange: String =
    "UPDATE ferry_store.server SET session_changes = session_changes + 1"

  package func sessionChanges() throws(StoreError) -> Int64 {
    try rows("SELECT session_changes FROM ferry_store.server").integer(0, 0) ?? 0
  }

  package func endSessions(
    user: String, device: String?, reason: String
  ) throws(StoreError) {
    try write(
      """
      WITH now AS (
        UPDATE ferry_store.session SET ended = $3
        WHERE user_name = $1 AND ($2::text IS NULL OR device = $2) AND ended IS NULL
        RETURNING id)
      \(PostgreSQLStore.countSessionChange) WHERE EXISTS (SELECT FROM now)
      """, [.exact(user), .exact(device), .exact(reason)])
  }

  package func reopenSessions(
    user: String, device: String, reason: String
  ) throws(StoreError) {
    try write(
      """
      UPDATE ferry_store.session SET ended = NULL
      WHERE user_name = $1 AND device = $2 AND ended = $3
      """, [.exact(user), .exact(device), .exact(reason)])
  }

  package func forgetSessions(begunBefore milliseconds: Int64) throws(StoreError) {
    try write("DELETE FROM ferry_store.session WHERE begun < $1", [.integer(milliseconds)])
  }

  package func boundSessions(
    user: String, device: String, perDevice: Int, devices: Int
  ) throws(StoreError) -> [String] {
    try write(
      """
      WITH now AS (
        UPDATE ferry_store.session SET ended = 'replaced' WHERE id IN (
          SELECT id FROM ferry_store.session
          WHERE user_name = $1 AND device = $2 AND ended IS NULL ORDER BY renewed DESC OFFSET $3)
        RETURNING id)
      \(PostgreSQLStore.countSessionChange) WHERE EXISTS (SELECT FROM now)
      """, [.exact(user), .exact(device), .integer(Int64(perDevice))])
    let rows = try rows(
      """
      SELECT device FROM ferry_store.session WHERE user_name = $1 AND ended IS NULL
      GROUP BY device ORDER BY device = $2 DESC, max(renewed) DESC OFFSET $3
      """, [.exact(user), .exact(device), .integer(Int64(devices))])
    let evicted = (0..<rows.count).compactMap { rows.exact($0, 0) }
    for device in evicted { try endSessions(user: user, device: device, reason: "evicted") }
    // Only so many that have ended are remembered, however often somebody logs in.
    try write(
      """
      DELETE FROM ferry_store.session WHERE id IN (
        SELECT id FROM ferry_store.session WHERE user_name = $1 AND ended IS NOT NULL
        ORDER BY renewed DESC OFFSET $2)
      """, [.exact(user), .integer(Int64(4 * devices))])
    return evicted
  }

  package func tokenUsers() throws(StoreError) -> [StoredTokenUser] {
    let rows = try rows(
      "SELECT user_name, roles, claims, issued, packages FROM ferry_store.token_user", [])
    return (0..<rows.count).map { row in
      StoredTokenUser(
        user: rows.exact(row, 0) ?? "", roles: ClaimText.decodeRoles(rows.exact(row, 1) ?? ""),
        claims: ClaimText.decode(rows.exact(row, 2) ?? ""), issued: rows.integer(row, 3) ?? 0,
        packages: ClaimText.decodePackages(rows.exact(row, 4)))
    }
  }

  package func keep(_ user: StoredTokenUser) throws(StoreError) {
    try write(
      """
      INSERT INTO ferry_store.token_user (user_name, roles, claims, issued, packages)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (user_name) DO UPDATE SET roles = excluded.roles, claims = excluded.claims,
        issued = excluded.issued, packages = excluded.packages
      """,
      [
        .exact(user.user), .exact(ClaimText.encode(roles: user.roles)),
        .exact(ClaimText.encode(user.claims)), .integer(user.issued),
        .exact(ClaimText.encode(packages: user.packages)),
      ])
  }

  package func forgetTokenUsers(issuedBefore milliseconds: Int64) throws(StoreError) {
    try write("DELETE FROM ferry_store.token_user WHERE issued < $1", [.integer(milliseconds)])
  }

  package func personalKeys(of user: String) throws(StoreError) -> [String: String] {
    let rows = try rows(
      """
      SELECT name, value FROM ferry_store.personalization WHERE package = $1 AND user_name = $2
      """, [number, .exact(user)])
    var keys: [String: String] = [:]
    for row in 0..<rows.count {
      if let name = rows.exact(row, 0), let value = rows.exact(row, 1) { keys[name] = value }
    }
    return keys
  }

  package func keep(
    _ keys: [(name: String, value: String?)], of user: String
  ) throws(StoreError) {
    guard !keys.isEmpty else { return }
    try write(
      keys.map { name, value in
        if let value {
          PostgreSQLConnection.Request(
            """
            INSERT INTO ferry_store.personalization (package, user_name, name, value)
            VALUES ($1, $2, $3, $4)
            ON CONFLICT (package, user_name, name) DO UPDATE SET value = excluded.value
            """, [number, .exact(user), .exact(name), .exact(value)])
        } else {
          PostgreSQLConnection.Request(
            """
            DELETE FROM ferry_store.personalization
            WHERE package = $1 AND user_name = $2 AND name = $3
            """, [number, .exact(user), .exact(name)])
        }
      })
  }

  package func keep(
    _ reports: [StoredReport], from owner: Owner, perDevice: Int, perUser: Int
  ) throws(StoreError) {
    let (device, user) = (PostgreSQLValue.exact(owner.device), PostgreSQLValue.exact(owner.user))
    try write([
      PostgreSQLConnection.Request(
        """
        INSERT INTO ferry_store.report (id, package, device, user_name, level, record, day)
        SELECT n.id, $1, $2, $3, n.level, n.record, s.days
        FROM unnest($4::text[], $5::text[], $6::text[]) WITH ORDINALITY
          AS n(id, level, record, place), ferry_store.server AS s
        ORDER BY n.place ON CONFLICT DO NOTHING
        """,
        [
          number, device, user, .texts(reports.map(\.id.text)),
          .texts(reports.map(\.level.rawValue)), .texts(reports.map(\.json)),
        ]),
      PostgreSQLConnection.Request(
        """
        DELETE FROM ferry_store.report WHERE device = $1 AND user_name = $2 AND number <= (
          SELECT number FROM ferry_store.report WHERE device = $1 AND user_name = $2
          ORDER BY number DESC LIMIT 1 OFFSET $3)
        """, [device, user, .integer(Int64(perDevice))]),
      PostgreSQLConnection.Request(
        """
        DELETE FROM ferry_store.report WHERE user_name = $1 AND number <= (
          SELECT number FROM ferry_store.report WHERE user_name = $1
          ORDER BY number DESC LIMIT 1 OFFSET $2)
        """, [user, .integer(Int64(perUser))]),
    ])
  }

  package func cutReports(of user: ExactText, toBytes limit: Int) throws(StoreError) -> Int {
    try write(
      """
      DELETE FROM ferry_store.report WHERE user_name = $1 AND number <= (
        SELECT max(number) FROM (
          SELECT number, sum(octet_length(record)) OVER (ORDER BY number DESC) AS bytes
          FROM ferry_store.report WHERE user_name = $1) AS r WHERE bytes > $2)
      """, [.exact(user), .integer(Int64(limit))])
    let rows = try rows(
      "SELECT sum(octet_length(record)) FROM ferry_store.report WHERE user_name = $1",
      [.exact(user)])
    return rows.count == 1 ? Int(rows.integer(0, 0) ?? 0) : 0
  }

  package func device(_ owner: Owner) throws(StoreError) -> StoredDevice? {
    let rows = try rows(
      """
      SELECT incarnation, rights_version, last_day = \(PostgreSQLStore.today)
      FROM ferry_store.device WHERE id = $1 AND user_name = $2 AND package = $3
      """, [.exact(owner.device), .exact(owner.user), number])
    guard rows.count == 1, let incarnation = rows.exact(0, 0), let rights = rows.text(0, 1) else {
      return nil
    }
    return StoredDevice(
      incarnation: incarnation, rightsVersion: rights, isOfToday: rows.flag(0, 2))
  }

  package func keep(
    _ devices: [(owner: Owner, device: StoredDevice)]
  ) throws(StoreError) {
    try write(
      devices.map { owner, device in
        PostgreSQLConnection.Request(
          """
          INSERT INTO ferry_store.device
            (id, user_name, package, incarnation, rights_version, last_day)
          VALUES ($1, $2, $3, $4, $5, \(PostgreSQLStore.today))
          ON CONFLICT (user_name, id, package) DO UPDATE SET incarnation = excluded.incarnation,
            rights_version = excluded.rights_version, last_day = excluded.last_day
          """,
          [
            .exact(owner.device), .exact(owner.user), number, .exact(device.incarnation),
            .text(device.rightsVersion),
          ])
      })
  }

  package func forgetDevices(of owner: Owner, beyond count: Int) throws(StoreError) {
    try write(
      """
      DELETE FROM ferry_store.device WHERE user_name = $1 AND package = $2 AND id IN (
        SELECT id FROM ferry_store.device WHERE user_name = $1 AND package = $2
        ORDER BY id = $3 DESC, last_day DESC, id OFFSET $4)
      """, [.exact(owner.user), number, .exact(owner.device), .integer(Int64(count))])
  }

  package func forgetDevices(unseenForDays days: Int64) throws(StoreError) {
    try write(
      """
      DELETE FROM ferry_store.device WHERE package = $1 AND last_day < \(PostgreSQLStore.today) - $2
      """, [number, .integer(days)])
  }
}
