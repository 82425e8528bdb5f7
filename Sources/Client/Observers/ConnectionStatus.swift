/// Whether the server can be reached.
public enum ConnectionStatus: Int, Sendable, Hashable {
  /// The numbers are those of the reference.
  case connectionError = 101
  case connecting = 102
  case connected = 103
  case disconnecting = 104
  case disconnected = 105
  case notificationWait = 106
}

/// Whether this device's application is registered with the server.
public enum RegistrationStatus: Int, Sendable, Hashable {
  /// The numbers are those of the reference.
  case registrationError = 201
  case registering = 202
  case registered = 203
  case unregistering = 204
  case unregistered = 205
}
