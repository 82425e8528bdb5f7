import FerryCrypto
import FerryJSON
import FerryOData
import FerryPush
import FerryText
import FerryWorld

/// How an application's devices are woken, and what is sent to those that listen.
struct ApplicationPush: Sendable {
  /// What a payload does beside waiting in the queue.
  enum Mode: String, Sendable, CaseIterable {
    /// Devices get it once they open their channel.
    case online
    /// Devices are woken always.
    case native
    /// Devices that do not listen are woken.
    case onlineAndNative
  }

  var mode: Mode = .onlineAndNative
  var apns: APNsSender.Account?
  var fcm: FCMSender.Account?
  var web: WebPushSender.Account?
  var webHook: (address: String, secret: [UInt8])?
  /// A file of certificates to trust in place of the system's.
  var trust: String?
}

extension ApplicationsFile {
  /// Files of keys, beside the file of applications where their names do not begin with a slash.
  struct Keys {
    let folder: String

    /// Nil where there is no such file, others can read it, or it is too large.
    func read(_ name: String) -> [UInt8]? {
      let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
      return try? PrivateFile.read(path, atMost: 64 << 10)
    }

    /// The bytes between the lines of a PEM text.
    static func der(_ text: String) -> [UInt8]? {
      let lines = text.split(whereSeparator: \.isNewline)
        .map { String($0) }.filter { !$0.hasPrefix("-----") }
      return Array(lines.joined().utf8).withUnsafeBufferPointer { Base64.decodeLeniently($0) }
    }
  }

  /// Reads the member `push` of an application.
  static func push(
    _ node: JSONNode, _ keys: Keys, _ fault: (JSONNode, String) -> ApplicationsError,
    check: (JSONNode, [String], String) throws(ApplicationsError) -> Void
  ) throws(ApplicationsError) -> ApplicationPush {
    try check(node, ["mode", "apns", "fcm", "webPush", "webHook", "trust"], "\"push\"")
    var push = ApplicationPush()
    func text(_ node: JSONNode, _ member: String) throws(ApplicationsError) -> String {
      guard let text = node[member]?.string, !text.isEmpty else {
        throw fault(node[member] ?? node, "\"\(member)\" is missing")
      }
      return text
    }
    func file(_ node: JSONNode, _ member: String) throws(ApplicationsError) -> [UInt8] {
      guard let bytes = keys.read(try text(node, member)) else {
        throw fault(
          node[member] ?? node,
          "the file of \"\(member)\" cannot be read, or others can read it (chmod 600)")
      }
      return bytes
    }
    if let value = node["mode"] {
      guard let mode = value.string.flatMap(ApplicationPush.Mode.init) else {
        throw fault(value, "\"mode\" is not online, native or onlineAndNative")
      }
      push.mode = mode
    }
    if node["trust"] != nil {
      let name = try text(node, "trust")
      push.trust = name.hasPrefix("/") ? name : "\(keys.folder)/\(name)"
    }
    if let apns = node["apns"] {
      try check(apns, ["key", "keyID", "team", "topic", "address"], "\"apns\"")
      let pem = String(decoding: try file(apns, "key"), as: UTF8.self)
      guard let der = Keys.der(pem), let key = try? P256Key(der: der) else {
        throw fault(apns, "the file of \"key\" is no key of Apple (.p8)")
      }
      push.apns = APNsSender.Account(
        key: key, keyID: try text(apns, "keyID"), team: try text(apns, "team"),
        topic: try text(apns, "topic"),
        address: apns["address"]?.string ?? "https://api.push.apple.com")
    }
    if let fcm = node["fcm"] {
      try check(fcm, ["account", "address"], "\"fcm\"")
      let account = try? JSONNode.parse(try file(fcm, "account"))
      guard let account, let pem = account["private_key"]?.string, let der = Keys.der(pem),
        let key = try? RSAKey(der: der), let email = account["client_email"]?.string,
        let project = account["project_id"]?.string
      else { throw fault(fcm, "the file of \"account\" is no service account of Google") }
      push.fcm = FCMSender.Account(
        key: key, email: email, project: project,
        tokenAddress: account["token_uri"]?.string ?? "https://oauth2.googleapis.com/token",
        address: fcm["address"]?.string ?? "https://fcm.googleapis.com")
    }
    if let web = node["webPush"] {
      try check(web, ["key", "subject", "hosts"], "\"webPush\"")
      let pem = String(decoding: try file(web, "key"), as: UTF8.self)
      guard let der = Keys.der(pem), let key = try? P256Key(der: der) else {
        throw fault(web, "the file of \"key\" is no P-256 key (openssl ecparam -name prime256v1)")
      }
      let subject = try text(web, "subject")
      guard subject.hasPrefix("mailto:") || subject.hasPrefix("https:") else {
        throw fault(web["subject"] ?? web, "\"subject\" begins neither with mailto: nor https:")
      }
      var hosts = WebPushSender.knownHosts
      if let value = web["hosts"] {
        guard let names = value.array?.map(\.string), !names.isEmpty,
          names.allSatisfy({ $0?.isEmpty == false })
        else { throw fault(value, "\"hosts\" is not a list of names of hosts") }
        hosts = names.compactMap { $0 }
      }
      push.web = WebPushSender.Account(key: key, subject: subject, hosts: hosts)
    }
    if let hook = node["webHook"] {
      try check(hook, ["address", "secret"], "\"webHook\"")
      push.webHook = (try text(hook, "address"), try file(hook, "secret"))
    }
    return push
  }
}
