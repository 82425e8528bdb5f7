import FerryArguments
import FerryHTTPClient
import FerryIssuers
import FerryModel
import FerryServer
import FerryWorld
import Foundation

/// The issuers whose tokens are taken, as the command line names them.
struct IssuerSettings {
  private let names: [String]
  private let audiences: [String]
  private let mappings: [Mapping]
  private let standard: Mapping
  private let trust: TransportOptions.Trust

  var isEmpty: Bool { names.isEmpty }

  init(_ arguments: Arguments, _ packages: [Package]) throws {
    let names = arguments.values("issuer")
    self.names = names
    for name in names where !IssuerAddress.isSafe(name) {
      throw UsageError(
        "the address of the issuer \(name) does not begin with https://",
        hint: "Write --issuer https://….")
    }
    let audiences = arguments.values("audience")
    self.audiences = audiences.isEmpty ? ["ferry"] : audiences
    let check = ClaimCheck(packages)
    standard = Mapping(claims: check.claimNames, roles: check.roleNames)
    var mappings: [Mapping] = []
    for file in arguments.values("mapping") {
      guard let bytes = FileManager.default.contents(atPath: file) else {
        throw UsageError(
          "the mapping \(file) cannot be read", hint: "Name a file that exists (--mapping).")
      }
      do { mappings.append(try Mapping([UInt8](bytes), name: file)) } catch {
        throw StartFailure(error.message, hint: error.hint)
      }
    }
    self.mappings = mappings
    for mapping in mappings {
      let named = mapping.issuer
      guard named.map({ names.contains($0) }) ?? (names.count == 1) else {
        throw UsageError(
          named.map { "--mapping: a mapping is for the issuer \($0), which --issuer does not name" }
            ?? "--mapping: a mapping names no issuer, and --issuer names \(names.count)",
          hint: named == nil
            ? "Write \"issuer\" into the mapping." : "Add --issuer with the mapping's issuer.")
      }
    }
    trust = try arguments.value("issuer-ca").map { .file($0) } ?? .system
  }

  func providers(_ world: World) -> TokenProviders {
    let transport = SystemTransport.make(TransportOptions(trust: trust))
    for name in names where !mappings.contains(where: { ($0.issuer ?? name) == name }) {
      let claims = standard.rules.compactMap(\.claim)
      guard !claims.isEmpty else { continue }
      world.log.warn(
        "an issuer without a mapping: its claims decide which rows a user has", ("issuer", name),
        ("claims", claims.joined(separator: ", ")),
        ("hint", "Make sure that users cannot change these claims there, or give --mapping."))
    }
    return TokenProviders(
      names.map { name in
        let mapping = mappings.first { ($0.issuer ?? name) == name } ?? standard
        return Issuer(
          name: name, audiences: audiences, mapping: mapping, transport: transport, world: world)
      })
  }
}
