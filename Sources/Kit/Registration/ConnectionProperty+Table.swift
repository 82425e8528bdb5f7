extension ConnectionProperty {
  /// All properties, in the order in which the service gives them.
  public static let all: [ConnectionProperty] = [
    ConnectionProperty(
      "ApplicationConnectionId", .connection, .text, .server, "the id of the connection"),
    ConnectionProperty(
      "UserName", .connection, .text, .server, number: 10_001, "whose the connection is"),
    ConnectionProperty("ETag", .connection, .text, .server, "differs after each change"),
    ConnectionProperty("CreatedAt", .connection, .moment, .server, "when it was registered"),
    ConnectionProperty(
      "ApplicationVersion", .application, .text, .device,
      "the version of the app, as the app names it"),
    ConnectionProperty(
      "CustomizationBundleId", .application, .text, .administrator, number: 2_903,
      setting: "application.resources", "the bundle that the app loads, as name:version"),
    ConnectionProperty(
      "PublishedToMobilePlace", .application, .boolean, .administrator, default: false,
      "kept for the reference; no such place exists"),
    ConnectionProperty(
      "InAppMessaging", .application, .boolean, .administrator, default: false,
      "kept for the reference"),
    ConnectionProperty(
      "DeviceModel", .device, .text, .device, number: 1_200, "the model of the device"),
    ConnectionProperty("DeviceType", .device, .text, .device, "such as iPhone"),
    ConnectionProperty(
      "DeviceSubType", .device, .text, .device, number: 1_201, "a part of the type"),
    ConnectionProperty(
      "DevicePhoneNumber", .device, .text, .device, number: 1_202, "the number of the device"),
    ConnectionProperty(
      "DeviceIMSI", .device, .text, .device, number: 1_203, "the identity of its SIM card"),
    ConnectionProperty("FormFactor", .device, .text, .device, "such as phone or tablet"),
    ConnectionProperty("CustomCustom1", .custom, .text, .device, number: 2_300, "the app's own"),
    ConnectionProperty("CustomCustom2", .custom, .text, .device, number: 2_301, "the app's own"),
    ConnectionProperty("CustomCustom3", .custom, .text, .device, number: 2_302, "the app's own"),
    ConnectionProperty("CustomCustom4", .custom, .text, .device, number: 2_303, "the app's own"),
    ConnectionProperty("UserLocale", .user, .text, .device, "such as de_DE"),
    ConnectionProperty("TimeZone", .user, .text, .device, "such as Europe/Berlin"),
    ConnectionProperty("LastKnownLocation", .user, .text, .device, "as the app writes it"),
    ConnectionProperty("PushGroup", .user, .text, .device, "a group of users for pushes"),
    ConnectionProperty("Email", .user, .text, .device, "the address of the user"),
    ConnectionProperty(
      "ProxyApplicationEndpoint", .proxy, .text, .server, number: 3_000,
      "the address of the first service of the application"),
    ConnectionProperty(
      "ProxyPushEndpoint", .proxy, .text, .server, number: 3_001,
      "where services send payloads for the connection"),
    ConnectionProperty(
      "ConnectionLogLevel", .deviceAdvanced, .text, .administrator, number: 1_302, default: "",
      setting: "deviceAdvanced.traceLevel", "how much the app logs"),
    ConnectionProperty(
      "E2ETraceLevel", .deviceAdvanced, .text, .administrator, default: "",
      "the level of traces from app to business system"),
    ConnectionProperty(
      "UploadLogs", .deviceAdvanced, .boolean, .administrator, default: false,
      "whether the app sends its log"),
    ConnectionProperty(
      "LogEntryExpiry", .deviceAdvanced, .integer, .administrator, default: 7,
      "days for which log records are kept"),
    ConnectionProperty(
      "CollectClientUsageReports", .deviceAdvanced, .boolean, .administrator, default: false,
      "kept for the reference"),
    ConnectionProperty(
      "EnableAppSpecificClientUsageKeys", .deviceAdvanced, .boolean, .administrator, default: false,
      "kept for the reference"),
    ConnectionProperty(
      "MaxConnectionWaitTimeForClientUsage", .deviceAdvanced, .integer, .administrator,
      "kept for the reference"),
    ConnectionProperty(
      "FeatureVectorPolicyAllEnabled", .deviceAdvanced, .boolean, .administrator, default: true,
      "kept for the reference"),
    ConnectionProperty(
      "CapabilitiesPasswordPolicy", .capabilities, .boolean, .device, default: false,
      "whether the app can follow a password policy; without it none is given out"),
    ConnectionProperty(
      "PasswordPolicyEnabled", .passwordPolicy, .boolean, .administrator, number: 3_100,
      default: false, setting: "passwordPolicy.enabled", "whether there is a policy"),
    ConnectionProperty(
      "PasswordPolicyDefaultPasswordAllowed", .passwordPolicy, .boolean, .administrator,
      number: 3_101, default: false, setting: "passwordPolicy.defaultPasswordAllowed",
      "whether the vault may open without a password of the user"),
    ConnectionProperty(
      "PasswordPolicyMinLength", .passwordPolicy, .integer, .administrator, number: 3_102,
      default: 8, setting: "passwordPolicy.minimumLength", "the fewest characters"),
    ConnectionProperty(
      "PasswordPolicyDigitRequired", .passwordPolicy, .boolean, .administrator, number: 3_103,
      default: false, setting: "passwordPolicy.digits", "a digit is needed"),
    ConnectionProperty(
      "PasswordPolicyUpperRequired", .passwordPolicy, .boolean, .administrator, number: 3_104,
      default: false, setting: "passwordPolicy.upper", "a capital letter is needed"),
    ConnectionProperty(
      "PasswordPolicyLowerRequired", .passwordPolicy, .boolean, .administrator, number: 3_105,
      default: false, setting: "passwordPolicy.lower", "a small letter is needed"),
    ConnectionProperty(
      "PasswordPolicySpecialRequired", .passwordPolicy, .boolean, .administrator, number: 3_106,
      default: false, setting: "passwordPolicy.special", "a special character is needed"),
    ConnectionProperty(
      "PasswordPolicyExpiresInNDays", .passwordPolicy, .integer, .administrator, number: 3_107,
      default: 0, setting: "passwordPolicy.expiresInDays",
      "days after which the password has to change; 0: never"),
    ConnectionProperty(
      "PasswordPolicyMinUniqueChars", .passwordPolicy, .integer, .administrator, number: 3_108,
      default: 0, setting: "passwordPolicy.uniqueCharacters",
      "how many different characters are needed"),
    ConnectionProperty(
      "PasswordPolicyLockTimeout", .passwordPolicy, .integer, .administrator, number: 3_109,
      default: 300, setting: "passwordPolicy.lockTimeout", "seconds after which the vault locks"),
    ConnectionProperty(
      "PasswordPolicyRetryLimit", .passwordPolicy, .integer, .administrator, number: 3_110,
      default: 10, setting: "passwordPolicy.attempts",
      "wrong passwords until the vault is destroyed"),
    ConnectionProperty(
      "PasswordPolicyFingerprintEnabled", .passwordPolicy, .boolean, .administrator, default: true,
      "whether a fingerprint may take the place of the password"),
    ConnectionProperty(
      "ApnsPushEnable", .push, .boolean, .device, default: false,
      "whether Apple's service may wake the app"),
    ConnectionProperty(
      "ApnsDeviceToken", .push, .text, .device, "the token of the device at Apple's service"),
    ConnectionProperty(
      "AndroidGcmPushEnabled", .push, .boolean, .device, default: false,
      "whether Google's service may wake the app"),
    ConnectionProperty(
      "AndroidGcmRegistrationId", .push, .text, .device,
      "the token of the device at Google's service"),
    ConnectionProperty(
      "AndroidGcmSenderId", .push, .text, .administrator, setting: "push.gcmSenderId",
      "the project at Google's service"),
    ConnectionProperty(
      "WebPushEnabled", .push, .boolean, .device, default: false,
      "whether the browser's push service may wake the app"),
    ConnectionProperty(
      "WebPushSubscription", .push, .text, .device,
      "the PushSubscription of the browser, as JSON"),
    ConnectionProperty(
      "WebPushKey", .push, .text, .server,
      "the applicationServerKey with which the browser subscribes"),
    ConnectionProperty(
      "WnsChannelURI", .push, .text, .device, "kept for the reference; there is no such sender"),
    ConnectionProperty(
      "WnsPushEnable", .push, .boolean, .device, default: false,
      "kept for the reference; there is no such sender"),
    ConnectionProperty(
      "MpnsChannelURI", .push, .text, .device, "kept for the reference; there is no such sender"),
    ConnectionProperty(
      "MpnsPushEnable", .push, .boolean, .device, default: false,
      "kept for the reference; there is no such sender"),
    ConnectionProperty(
      "BlackberryPushEnabled", .push, .boolean, .device, default: false,
      "kept for the reference; there is no such sender"),
    ConnectionProperty(
      "BlackberryDevicePin", .push, .text, .device,
      "kept for the reference; there is no such sender"),
    ConnectionProperty(
      "BlackberryBESListenerPort", .push, .integer, .device,
      "kept for the reference; there is no such sender"),
    ConnectionProperty(
      "BlackberryPushAppID", .push, .text, .administrator,
      "kept for the reference; there is no such sender"),
    ConnectionProperty(
      "BlackberryPushBaseURL", .push, .text, .administrator,
      "kept for the reference; there is no such sender"),
    ConnectionProperty(
      "BlackberryPushListenerPort", .push, .integer, .administrator,
      "kept for the reference; there is no such sender"),
    ConnectionProperty(
      "BlackberryListenerType", .push, .integer, .administrator,
      "kept for the reference; there is no such sender"),
  ]

  /// Says that all settings have been sent.
  public static let endOfSettings: Int = 20_000
}
