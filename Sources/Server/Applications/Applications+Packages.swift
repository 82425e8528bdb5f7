import FerryHTTP
import FerryRegistration

/// Where a device gets an app: an entry of a store, or the file of the app.
package struct AppPackage: Sendable, Equatable {
  /// What the page says, such as `iPhone and iPad`.
  package let name: String
  package let address: String

  /// Nil where one of both cannot be written into a page, or the address opens something else.
  init?(name: String, address: String) {
    let isName =
      (1...64).contains(name.utf8.count)
      && name.unicodeScalars.allSatisfy { scalar in
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
          || " .,-()/+".unicodeScalars.contains(scalar)
      }
    let isAddress =
      address.utf8.count <= 2_048
      && AppPackage.schemes.contains { address.hasPrefix($0) && address != $0 }
      && address.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"'<>`\\".utf8.contains($0) }
    guard isName, isAddress else { return nil }
    self.name = name
    self.address = address
  }

  /// Of browsers, of Apple's installer and of Google's store.
  static let schemes: [String] = ["https://", "http://", "itms-services://", "market://"]
}

extension Applications {
  /// One page with the packages of an app, for anybody with a browser.
  func packagePage(_ application: Application) throws(ApplicationsRefusal) -> HTTPResponse {
    guard !application.packages.isEmpty else {
      throw ApplicationsRefusal(.registrationNotFound, application.id)
    }
    // Of all characters that mean something in HTML only & can be in an address, and none in the
    // names and the id.
    let links = application.packages.map { package in
      "<li><a href=\"\(Applications.escaped(package.address))\">\(package.name)</a></li>"
    }
    let page = """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(application.id)</title></head>
      <body><h1>\(application.id)</h1>
      <ul>
      \(links.joined(separator: "\n"))
      </ul></body></html>

      """
    return HTTPResponse(
      status: 200,
      headers: [
        "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache",
        "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
      ], body: .bytes(Array(page.utf8)))
  }
}
