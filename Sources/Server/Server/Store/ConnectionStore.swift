/// Application connections. There is one register: a connection is the row of a device that an app
/// has registered, whether it synchronizes or not.
package protocol ConnectionStore: AnyObject {
  /// The registered connection of this id, whoever's it is.
  func connection(_ id: String) throws(StoreError) -> StoredConnection?
  /// Those of an application, of one user where one is named; in the order of their ids.
  func connections(
    of application: String, user: String?
  ) throws(StoreError) -> [StoredConnection]
  /// Registers a connection. A device of this user and id that is in the register becomes the
  /// connection, and keeps all that is known of it. False: the id is registered already.
  func add(_ connection: StoredConnection) throws(StoreError) -> Bool
  /// Writes its properties, and counts the change. False: it is not registered any more, or it has
  /// changed since `changes`.
  func update(_ connection: StoredConnection, from changes: Int64) throws(StoreError) -> Bool

  /// Puts a payload at the end of the queue of a connection and gives its number. Nil: the
  /// connection is not registered, or `limit` payloads wait for it.
  func add(_ payload: StoredPayload, to owner: Owner, limit: Int) throws(StoreError) -> Int64?
  /// The next of the queue behind a number, at most `count`.
  func payloads(
    of owner: Owner, after number: Int64, count: Int
  ) throws(StoreError) -> [StoredPayload]
  func payloadCount(of owner: Owner) throws(StoreError) -> Int
  /// The device has all up to this number.
  func forgetPayloads(of owner: Owner, upTo number: Int64) throws(StoreError)
}

/// An application connection as it is kept.
package struct StoredConnection: Sendable, Equatable {
  /// The application connection id, which is the id of the device.
  package let id: String
  package let user: String
  package let application: String
  /// In milliseconds since 1970.
  package let registered: Int64
  /// How often its properties were changed.
  package var changes: Int64 = 0
  /// Those that are not the default, by name, as JSON.
  package var properties: String = "{}"
  /// By which template it was registered.
  package var template: String?
  /// Of an anonymous connection: the hash of what its requests must show.
  package var proof: String?
  /// What an operator decided about the device.
  package var state: RegisteredDevice.State = .active
  package var reason: String = ""

  package init(id: String, user: String, application: String, registered: Int64) {
    self.id = id
    self.user = user
    self.application = application
    self.registered = registered
  }

  package var owner: Owner { Owner(device: id, user: user) }
}

/// Something that a service has sent to a connection.
package struct StoredPayload: Sendable, Equatable {
  /// Greater than those before it; 0: none yet.
  package var number: Int64 = 0
  /// When it came, in milliseconds since 1970.
  package let moment: Int64
  /// The fields as JSON.
  package let content: String

  package init(number: Int64 = 0, moment: Int64, content: String) {
    self.number = number
    self.moment = moment
    self.content = content
  }
}
