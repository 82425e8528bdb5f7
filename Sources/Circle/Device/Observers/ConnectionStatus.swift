/// Whether the server can be reached.
public enum ConnectionStatus: Int, Sendable, Hashable {
  /// The numbers are those of the reference.
  case connectionError = 101
  /// A request is on its way, and none was answered before.
  case connecting = 102
  /// The server answered the last request.
  case connected = 103
  /// `stopConnection` was called, and running work ends first.
  case disconnecting = 104
  /// The connection was stopped, or the server cannot be reached.
  case disconnected = 105
  /// A number of the reference; Ferry does not report it.
  case notificationWait = 106
}

/// Whether this device's application is registered with the server.
public enum RegistrationStatus: Int, Sendable, Hashable {
  /// The numbers are those of the reference.
  case registrationError = 201
  /// The request is on its way, or waits for a network.
  case registering = 202
  /// The server knows this device and its application.
  case registered = 203
  /// The server has not answered yet that the device is forgotten.
  case unregistering = 204
  /// The server does not know this device.
  case unregistered = 205
}
