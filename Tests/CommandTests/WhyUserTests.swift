import Foundation
import Testing

@testable import FerryCommand

@Suite("ferry why --user says whether the devices of a user have an object")
struct WhyUserTests {
  private static let tina = UserList.User(
    name: "tina", passwordHash: "", roles: ["field"],
    claims: [
      UserList.Claim(name: "technician", values: ["1", "7"]),
      UserList.Claim(name: "region", values: ["North, \"far\""]),
    ])

  @Test(
    "The first claim or role that is missing is the reason",
    arguments: [
      ("claim:technician", "1", "Devices of tina have it."),
      ("", "", "Devices of tina have it."),
      ("claim:user", "\"tina\"", "Devices of tina have it."),
      (
        "claim:technician", "2",
        "tina has technician = 1, 7, and the object is for technician = 2."
      ),
      ("claim:depot", "2", "tina has no depot, and the object is for depot = 2."),
      (
        "claim:technician,claim:region", "7,\"North, \\\"far\\\"\"", "Devices of tina have it."
      ),
      (
        "open:city,claim:technician", "\"Bonn\",3",
        "tina has technician = 1, 7, and the object is for technician = 3."
      ),
      (
        "parameter:month", "5", "Devices of tina have it if they ask for month = 5."
      ),
      (
        "parameter:month within claim:technician", "5",
        "tina has technician = 1, 7, and the object is for technician = 5."
      ),
      (
        "roles:[\"office\",\"sales\"] claim:technician", "1",
        "tina has none of the roles that may read it: office, sales."
      ),
      ("roles:[\"field\"] claim:technician", "1", "Devices of tina have it."),
    ])
  func reason(_ rule: String, _ values: String, _ sentence: String) {
    #expect(WhyUser.sentence(Self.tina, rule: rule, values: values) == sentence)
  }

  @Test("A package that the user may not use is the first reason")
  func package() {
    var tina = Self.tina
    #expect(WhyUser.refusal(tina, package: "Travel:1.0") == nil)
    tina.packages = ["Travel"]
    #expect(WhyUser.refusal(tina, package: "Travel:1.0") == nil)
    tina.packages = ["Hr"]
    #expect(
      WhyUser.refusal(tina, package: "Travel:1.0") == "tina may not use the package Travel:1.0.")
  }

  @Test("A user who is not in the file is named, and a device has no other user")
  func wrongUse() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
    try Data(#"{"users": []}"#.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let why = ["why", "Visit", "3"]
    let unknown = try FerryProgram.run(
      why + ["--data", "/nowhere", "--users", file.path, "--user", "tina"])
    #expect(unknown.code == 1 && unknown.said.contains("has no user \"tina\""), "\(unknown)")
    let device = try FerryProgram.run(why + ["--device", "/nowhere.db", "--user", "tina"])
    #expect(device.code == 2 && device.said.contains("a device has one user"), "\(device)")
  }
}
