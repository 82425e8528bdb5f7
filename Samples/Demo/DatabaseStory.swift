import FerryCrypto
import FerryModel
import FerryStage
import Foundation

/// The story on a copy of someone's own database: the steps that its schema allows.
struct DatabaseStory {
  private let stage: Stage
  private let original: String
  private let copy: String

  init(_ stage: Stage, original: String) {
    self.stage = stage
    self.original = original
    copy = stage.path("business.db")
  }

  /// False when at the end something differs, or the original is not what it was.
  func tell() throws -> Bool {
    let narrator = stage.narrator
    narrator.title("Ferry: \(URL(fileURLWithPath: original).lastPathComponent) goes offline")
    let before = try checksum()
    narrator.step("A copy of your database is made; the original is only read.")
    narrator.say("SHA-256 before: \(before)")
    try makeCopy()

    narrator.step("ferry new makes a model of it.")
    let (package, report) = try stage.makeModel(of: .sqlite(path: copy), ["--writable", "all"])
    narrator.say(report.replacingOccurrences(of: copy, with: original).trimmed)

    narrator.step("What does the schema allow? Each change is tried on the copy and taken back.")
    let (plan, leftOut) = try PlanFinder(package: package, trial: Trial(copy)).find()
    tell(plan)
    for reason in leftOut { narrator.say("Left out: \(reason).") }

    narrator.step("ferryd serves the copy.")
    try stage.writeUsers(["ada", "bob"], claims: "{}")
    if try Trial(copy).hasForeignTableOfOperations() {
      stage.serverOptions = ["--forget-operations"]
      narrator.say(
        "It has a table ferry_applied that is not Ferry's: ferryd runs with --forget-operations.")
    }
    let time = try stage.startServer(.sqlite(path: copy))
    narrator.say("The server listens at \(stage.address) after \(time.shown).")

    let scenes = Scenes(stage: stage, database: .sqlite(path: copy), package: package)
    narrator.step("Two devices log in, subscribe and import.")
    let devices = try scenes.devices(["ada", "bob"])
    try offline(scenes, devices, plan)
    if let update = plan.update {
      narrator.step("Changes while everyone is online are pushed.")
      for value in update.values[1...3] {
        try scenes.push(
          from: devices[0], to: devices[1], update.entity, update.key, update.attribute, value)
      }
    }
    if let refusal = plan.refusal { try refuse(scenes, devices[0], refusal) }
    if let update = plan.update {
      narrator.step("Both devices change the same row.")
      try scenes.conflict(
        devices, update.entity, update.key, update.attribute, Array(update.values[4...5]))
    }

    narrator.step("Business database, server and both devices, row by row.")
    let isEqual = try Comparison(
      package: package, database: .sqlite(path: copy), store: stage.path("data/server.sqlite"),
      devices: devices
    ).tell(narrator)
    for reason in leftOut { narrator.say("Was left out: \(reason).") }

    narrator.step("Your database is what it was.")
    let after = try checksum()
    narrator.say("SHA-256 before: \(before)\nSHA-256 after:  \(after)")
    guard after == before else {
      narrator.say("DIFFERENT: the file \(original) was changed while the demo ran.")
      return false
    }
    return isEqual
  }

  private func checksum() throws -> String {
    guard let bytes = FileManager.default.contents(atPath: original) else {
      throw StageFailure("\(original) cannot be read; name a SQLite database")
    }
    return hexadecimal(SHA256Digest.hash([UInt8](bytes)))
  }

  /// With the log in which SQLite keeps what is not in the file yet.
  private func makeCopy() throws {
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: original + suffix) {
      try FileManager.default.copyItem(atPath: original + suffix, toPath: copy + suffix)
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o600], ofItemAtPath: copy + suffix)
    }
  }

  private func tell(_ plan: Plan) {
    let narrator = stage.narrator
    if let update = plan.update {
      narrator.say(
        "Update: \(update.entity.name) \(update.key).\(update.attribute), no key and no reference.")
    }
    if let create = plan.create {
      let names = create.values.map(\.0).joined(separator: ", ")
      narrator.say(
        "Create: \(create.entity.name), whose key the database gives; required values copied: "
          + (names.isEmpty ? "none" : names))
    }
    if let refusal = plan.refusal {
      narrator.say(
        "Refusal: \(refusal.entity.name) \(refusal.key).\(refusal.attribute) = "
          + "\(refusal.wrong.shown), by a \(refusal.rule.rawValue).")
    }
  }

  private func offline(_ scenes: Scenes, _ devices: [Device], _ plan: Plan) throws {
    let narrator = stage.narrator
    let (first, second) = (devices[0], devices[1])
    narrator.step("The server goes away.")
    try scenes.stopServer(devices)

    narrator.step("device A goes on without it.")
    if let update = plan.update {
      try first.update(update.entity.name, update.key, [(update.attribute, update.values[0])])
      try first.submit(update.entity.name, update.key)
      narrator.say(
        "\(update.entity.name) \(update.key): \(update.attribute) = \(update.values[0].shown), "
          + "submitted.")
    }
    if let create = plan.create {
      let key = try first.create(create.entity.name, create.values)
      try first.submit(create.entity.name, key)
      narrator.say("A new \(create.entity.name) has the temporary key \(key), submitted.")
    }
    if plan.update == nil, plan.create == nil {
      narrator.say("The schema allows no change that could be shown.")
    }

    narrator.step("The server returns; what waited is replayed, and device B sees it.")
    try scenes.startServerAgain(devices)
    if let update = plan.update {
      try scenes.accepted(first, update.entity.name, "the replay of the update")
      try second.wait(update.entity.name, update.key, "the update") {
        $0[update.attribute]?.plain == update.values[0].plain
      }
      narrator.say("The update was accepted and is on device B.")
    }
    if let create = plan.create {
      let key = try scenes.accepted(first, create.entity.name, "the replay of the create")
      try second.wait(create.entity.name, key, "the new row") { _ in true }
      narrator.say("The create was accepted with the key \(key) and is on device B.")
    }
  }

  private func refuse(_ scenes: Scenes, _ device: Device, _ refusal: Plan.Refusal) throws {
    let narrator = stage.narrator
    let name = refusal.entity.name
    narrator.step("A \(refusal.rule.rawValue) of the business database refuses a change.")
    try device.forgetEvents()
    do {
      try device.update(name, refusal.key, [(refusal.attribute, refusal.wrong)])
    } catch let refused as DeviceRefusal where refusal.rule == .notNull {
      narrator.say("The model knows the rule, so the device itself refuses at once:")
      narrator.say(refused.description)
      return
    }
    try device.submit(name, refusal.key)
    let records = try scenes.refused(device, name, refusal.key, "the change that is not allowed")
    narrator.say(
      "\(device.name) sets \(name) \(refusal.key).\(refusal.attribute) = \(refusal.wrong.shown) "
        + "and submits: refused.")
    scenes.show(records)
    guard let right = refusal.right else {
      try device.cancel(name, refusal.key)
      narrator.say("No other value would be taken, so it cancels.")
      return
    }
    try device.update(name, refusal.key, [(refusal.attribute, right)])
    try device.submit(name, refusal.key)
    try scenes.accepted(device, name, "the corrected change")
    narrator.say("Corrected to \(right.shown) and submitted again: accepted.")
  }
}
