public import FerryWorld

/// Why a registration, a setting or a push is refused. Up to 71000 the numbers are those that apps of
/// the reference know; from 72000 on they are Ferry's own.
///
/// Server and app share this table, and the page about registration is made from it.
public enum RegistrationCode: Int, NumberedCode {
  case serverUnreachable = 558
  case wrongCredentials = 563
  case timedOut = 571
  case wrongUserForCode = 578
  case wrongDeviceForCode = 579
  case invalidActivationCode = 580
  case activationCheckFailed = 581
  case communicationFailed = 6_400
  case cancelled = 6_600
  case templateNotFound = 14_850
  case automaticRegistrationDisabled = 14_851
  case registrationNotFound = 14_852
  case wrongUserForRegistration = 14_853
  case userNameTooLong = 14_854
  case alreadyRegistered = 14_855
  case unknownError = 14_899
  case notRegistered = 70_001
  case passwordPolicyNotEnabled = 70_002
  case noPushEndpoint = 70_003
  case emptyParameters = 70_004
  case readOnlyProperties = 70_005
  case bundleFetchFailed = 70_006
  case bundleNotAvailable = 70_007
  case unreadableAnswer = 70_008
  case internalError = 71_000
  case unknownApplication = 72_001
  case invalidConnectionID = 72_002
  case unknownProperty = 72_003
  case wrongValue = 72_004
  case repeatedProperty = 72_005
  case noConnectionID = 72_006
  case closedService = 72_007
  case deviceLocked = 72_008
  case deviceWiped = 72_009
  case changedMeanwhile = 72_010
  case missingRole = 72_011
  case payloadTooLarge = 72_012
  case queueFull = 72_013
  case unreadablePayload = 72_014
  case tooManyAttempts = 72_015
  case serverBusy = 72_016
  case notOffered = 72_017
  case userNotAllowed = 72_018
  case ambiguousTemplate = 72_019
  case stateNotWritable = 72_020
  case unreadableRequest = 72_021
  case captchaNeeded = 72_022
  case wrongCaptcha = 72_023
  case unreadableTrace = 72_024
  case traceNotTaken = 72_025

  public var cause: String { facts.cause }
  public var cure: String { facts.cure }
  /// The status of an answer that has this number; nil where only an app reports it.
  public var status: Int? { facts.status }
  /// The name of the reference for this number; nil where it gives none.
  public var referenceName: String? { facts.reference }

  /// The code of an answer that names no number of this table.
  public static func of(status: Int) -> RegistrationCode {
    switch status {
    case 401: .wrongCredentials
    case 403: .closedService
    case 404: .registrationNotFound
    case 412: .changedMeanwhile
    case 413: .payloadTooLarge
    case 429, 502, 503, 504: .serverBusy
    default: .unknownError
    }
  }

  private struct Facts {
    let status: Int?
    let reference: String?
    let cause: String
    let cure: String

    init(_ status: Int?, _ reference: String?, _ cause: String, _ cure: String) {
      (self.status, self.reference, self.cause, self.cure) = (status, reference, cause, cure)
    }
  }

  private var facts: Facts {
    switch self {
    case .serverUnreachable:
      Facts(
        nil, nil, "The server cannot be reached.",
        "Check host, port and network, then repeat the call: nothing was registered twice.")
    case .wrongCredentials:
      Facts(
        401, "AUTHENTICATION_ERROR", "The name or the password is wrong.",
        "Check both and send them again.")
    case .timedOut:
      Facts(
        nil, "REGISTRATION_FAILED_UNKNOWN_ERROR", "The server did not answer in time.",
        "Repeat the call: the connection id is kept, so nothing is registered twice.")
    case .wrongUserForCode:
      Facts(
        403, nil, "The activation code is for another user.",
        "Log in as the user for whom the administrator made the code.")
    case .wrongDeviceForCode:
      Facts(
        403, nil, "The activation code was used on another device.",
        "Ask the administrator for another code.")
    case .invalidActivationCode:
      Facts(
        403, nil, "The activation code is wrong, was used, or is too old.",
        "Check the code, or ask the administrator for another one.")
    case .activationCheckFailed:
      Facts(
        503, nil, "The activation code could not be checked.", "Try again in a few seconds.")
    case .communicationFailed:
      Facts(
        nil, "NETWORK_ERROR", "The connection broke before the answer was whole.",
        "Repeat the call.")
    case .cancelled:
      Facts(nil, "COMMERR_USER_CANCELLED", "The app cancelled the call.", "Repeat it when needed.")
    case .templateNotFound:
      Facts(
        403, "MCLERR_AUTO_REG_TEMPLATE_NOT_FOUND",
        "The application has no connection template for this user.",
        "The administrator adds a template that matches, or names one for the application.")
    case .automaticRegistrationDisabled:
      Facts(
        403, "MCLERR_AUTO_REG_NOT_ENABLED",
        "Devices of this application need an activation code.",
        "Send the code that the administrator gives.")
    case .registrationNotFound:
      Facts(
        404, "MCLERR_AUTO_REG_REGISTRATION_NOT_FOUND", "There is nothing at this address.",
        "Check the address and the id of the application.")
    case .wrongUserForRegistration:
      Facts(
        403, "MCLERR_AUTO_REG_WRONG_USER_FOR_DEVICE",
        "The connection belongs to another user or another application.",
        "Log in as its user, or register a connection of your own.")
    case .userNameTooLong:
      Facts(
        400, "MCLERR_AUTO_REG_USER_NAME_TOO_LONG", "The user name has more than 256 bytes.",
        "Use a shorter name.")
    case .alreadyRegistered:
      Facts(
        409, "MCLERR_AUTO_REG_DEVICE_ALREADY_REGISTERED",
        "The connection id is registered already.",
        "Go on with it, or delete it first.")
    case .unknownError:
      Facts(
        500, "MCLERR_UNKNOWN_ERROR", "The server could not do it.",
        "Read the log of the server under the correlation id of the answer.")
    case .notRegistered:
      Facts(
        404, "APPLICATION_USER_NOT_REGISTERED", "No connection is registered under this id.",
        "Register first.")
    case .passwordPolicyNotEnabled:
      Facts(
        404, nil, "The password policy is not enabled, or the app has not asked for it.",
        "Set CapabilitiesPasswordPolicy to true; the administrator enables the policy.")
    case .noPushEndpoint:
      Facts(404, nil, "The connection has no address for pushes.", "Register again.")
    case .emptyParameters:
      Facts(400, "ANY_INPUT_FIELD_NULL", "A required value is empty.", "Fill it in.")
    case .readOnlyProperties:
      Facts(
        400, "UPDATE_SETTINGS_CONTAINS_READONLY_FIELDS",
        "A property of the request may be changed by the administrator only; nothing was changed.",
        "Leave it out. The metadata marks such properties with sup:ReadOnly.")
    case .bundleFetchFailed:
      Facts(500, nil, "The bundle could not be read.", "Try again, or tell the administrator.")
    case .bundleNotAvailable:
      Facts(404, nil, "There is no such bundle.", "The administrator uploads it.")
    case .unreadableAnswer:
      Facts(
        nil, "PARSE_ERROR", "The answer is none of this service.",
        "Check that the address is that of the server, and not of a login page.")
    case .internalError:
      Facts(500, nil, "The library could not do it.", "Report it with the message.")
    case .unknownApplication:
      Facts(
        404, nil, "The server has no application of this id.",
        "Check the id; the administrator adds it to the file of applications.")
    case .invalidConnectionID:
      Facts(
        400, nil, "The connection id cannot be used.",
        "Use 1 to 128 letters, digits, -, _, . and ~.")
    case .unknownProperty:
      Facts(
        400, nil, "A connection has no property of this name.", "The metadata has all names.")
    case .wrongValue:
      Facts(
        400, nil, "The value is not of the type of its property; nothing was changed.",
        "The metadata has the type of each property.")
    case .repeatedProperty:
      Facts(400, nil, "A property is there twice; nothing was changed.", "Send it once.")
    case .noConnectionID:
      Facts(
        403, nil, "The request carries no connection id.",
        "Register, and send X-SUP-APPCID as header or cookie.")
    case .closedService:
      Facts(
        403, nil, "The application of the connection may not use this service.",
        "The administrator adds the service to the application.")
    case .deviceLocked:
      Facts(
        403, nil, "The administrator has locked the connection.", "Ask the administrator.")
    case .deviceWiped:
      Facts(
        403, nil, "The administrator has ordered the device to destroy its data.",
        "Ask the administrator.")
    case .changedMeanwhile:
      Facts(
        412, nil, "The connection has changed since it was read.", "Read it, and change it again.")
    case .missingRole:
      Facts(
        403, nil, "The user has not the role that pushes need.",
        "The administrator gives the role SUP Push User.")
    case .payloadTooLarge:
      Facts(
        413, nil, "The payload has more than 4096 bytes.",
        "Send less, such as an address from which the app reads all of it.")
    case .queueFull:
      Facts(
        429, nil, "As many payloads wait for the connection as its queue holds.",
        "Send it again once the device has fetched some.")
    case .unreadablePayload:
      Facts(
        400, nil, "The payload cannot be read.",
        "Send UTF-8 text, or one JSON object to /restnotification.")
    case .tooManyAttempts:
      Facts(
        429, nil, "Too many wrong passwords or codes came.",
        "Wait as long as Retry-After says.")
    case .serverBusy:
      Facts(503, nil, "The server cannot answer at the moment.", "Try again in a few seconds.")
    case .notOffered:
      Facts(501, nil, "The service does not offer this.", "The metadata shows what it offers.")
    case .userNotAllowed:
      Facts(
        403, nil, "The application is not for this user.",
        "The administrator adds the user to the list of the application.")
    case .ambiguousTemplate:
      Facts(
        403, nil, "More than one connection template matches.",
        "The administrator changes them so that only one matches.")
    case .stateNotWritable:
      Facts(
        nil, nil, "The file of the registration cannot be read or written.",
        "Make room, or name a file in a folder of the app.")
    case .captchaNeeded:
      Facts(
        403, nil, "A person has to read a picture before the app registers.",
        "Show the picture, and register again with its text.")
    case .wrongCaptcha:
      Facts(
        403, nil, "The text is not that of the picture, or the picture was used or is too old.",
        "Show the new picture, and register again with its text.")
    case .unreadableTrace:
      Facts(
        400, nil, "The body of the request is no trace.",
        "Send the XML document of a trace, without a document type.")
    case .traceNotTaken:
      Facts(
        502, nil, "The receiver of traces has not taken the trace.",
        "Send it again later. The server's log has the reason.")
    case .unreadableRequest:
      Facts(
        400, nil, "The body of the request cannot be read.",
        "Send an Atom entry or a JSON object with the properties.")
    }
  }
}

/// Why a call about the registration failed.
public struct RegistrationError: NumberedError {
  public static let domain: String = "FerryRegistration"

  public let code: RegistrationCode
  public let message: String
  /// Whether the server may have got the request.
  public let mayHaveArrived: Bool
  /// When to try again, where the server says it.
  public let retryAfterSeconds: Int64?
  /// The picture that a person has to read, with `captchaNeeded` and `wrongCaptcha`.
  public let captcha: CaptchaChallenge?

  public init(
    _ code: RegistrationCode, _ message: String, mayHaveArrived: Bool = false,
    retryAfterSeconds: Int64? = nil, captcha: CaptchaChallenge? = nil
  ) {
    self.code = code
    self.message = message
    self.mayHaveArrived = mayHaveArrived
    self.retryAfterSeconds = retryAfterSeconds
    self.captcha = captcha
  }

  public var cause: String { code.cause }
  public var cure: String { code.cure }
}
