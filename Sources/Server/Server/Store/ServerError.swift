import FerryJSON
import FerryWire

/// Why the server cannot do what was asked, with the cure.
package struct ServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Closed today; more may come.
  package enum Code: String, Sendable, CaseIterable {
    /// Another server works on the same folder. Stop it, or give this one a folder of its own.
    case folderInUse
    /// The folder cannot be made or written. Check its owner and rights.
    case folderNotWritable
    /// Others on the machine may enter the folder. Type what the hint says.
    case folderOpen
    /// A newer server wrote the store. Start that one.
    case newerStore
    /// The store's file is not one, or is broken. Restore it from a backup.
    case damagedStore
    /// The file with the key of the tokens is not whole or cannot be read. Restore it, or remove it.
    case damagedSecret
    /// The disk is full. Nothing was lost; make room.
    case diskFull
    /// The store's file was moved or removed while the server ran. Put it back.
    case storeGone
    /// The store was moved to PostgreSQL, or a move was interrupted. Do what the hint says.
    case movedStore
    /// The disk of the store fails or has turned read-only. Move the store to another disk.
    case storeFailing
    /// The database of the store does not answer, or takes no writes. Start it again.
    case storeUnreachable
    /// Another node leads the package now. This one follows.
    case superseded
    /// The store could not be read or written for another reason.
    case store
    /// The model has changed, but not its version. Give it a new one.
    case changedModel
    /// The model asks for something that cannot be.
    case badModel
    /// The user file cannot be read.
    case badUserFile
    /// Name or password is wrong.
    case wrongLogin
    /// Too many wrong passwords came for this user or from this address. Wait as long as it says.
    case tooManyGuesses
    /// Too many logins wait to be looked at. Try again in a few seconds.
    case tooManyLogins
    /// The token's time is over, or the server's clock was set back and it has not come yet.
    case expiredToken
    /// The token is not one that this server gave, or was changed.
    case forgedToken
    /// Another server gave the token.
    case otherServersToken
    /// The token was revoked, or a newer one took its place.
    case revokedToken
    /// The user's claims make more partitions than a subscription can have.
    case tooManyPartitions
    /// As many channels are open as the server has room for. The device polls instead.
    case tooManyChannels
    /// The operator replaces the package that the request is about. Try again in a moment.
    case replacedPackage
    /// The token of an issuer does not let its user in; the message says why.
    case refusedToken
    /// The issuer of a token does not answer. Try again.
    case issuerAway
    /// The newest token that was seen of the user is too old to tell what the user may do. Send a newer
    /// one.
    case staleRights
    /// The operator has locked the device. What is pending stays there.
    case deviceLocked
    /// The operator has ordered the device to destroy its data.
    case deviceWiped
    /// The file of connection templates cannot be read.
    case badTemplateFile
    /// Two connection templates match a device. Let one of them match.
    case ambiguousTemplate
    /// There is no such operation, or it is not in a state in which this can be done.
    case badRequest
  }

  package let code: Code
  package let message: String
  /// What the reader can do.
  package let hint: String
  /// Whether the same may succeed later without anyone doing anything.
  package let isTransient: Bool
  /// When to come again, where that is known.
  package let retryAfterSeconds: Int64?
  /// With `deviceWiped`: what the device is to do.
  package var wipe: WipeOrder?

  package init(
    _ code: Code, _ message: String, hint: String, isTransient: Bool = false,
    retryAfterSeconds: Int64? = nil
  ) {
    self.code = code
    self.message = message
    self.hint = hint
    self.isTransient = isTransient
    self.retryAfterSeconds = retryAfterSeconds
  }

  package var description: String { "\(message). \(hint)" }

  /// The answer that has this error.
  package var body: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("code", code.rawValue)
    writer.field("message", message)
    writer.field("hint", hint)
    if let wipe {
      writer.key("wipe")
      wipe.write(to: &writer)
    }
    writer.endObject()
    return writer.bytes
  }

  /// Whether the disk of the store, and not the request, is the reason.
  var isOfTheStore: Bool {
    let codes: [Code] = [
      .diskFull, .storeGone, .storeFailing, .store, .folderNotWritable, .damagedStore,
      .storeUnreachable, .superseded,
    ]
    return codes.contains(code)
  }
}
