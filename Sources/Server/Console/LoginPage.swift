/// The page on which an operator logs in.
enum LoginPage {
  static func page(_ next: String?) -> Page {
    var page = Page("Log in", nil)
    let action = next.map { HTML.link("login", [("next", $0)]) } ?? "login"
    page.body.open("form", [("method", "post"), ("action", action), ("class", "login")])
    page.field(
      "Name", "user", "", [("autocomplete", "username"), ("required", ""), ("autofocus", "")])
    page.field(
      "Password", "password", "",
      [("type", "password"), ("autocomplete", "current-password"), ("required", "")])
    page.body.markup("<button class=\"primary\">Log in</button></form>")
    page.body.element(
      "p",
      "Operators are in the file of the option --admins: ferry user add --file admins.json "
        + "--name anna --role operator.", [("class", "hint")])
    return page
  }

  /// Where to go after the login: a page of ours, whatever a link says.
  static func place(_ next: String?) -> String {
    guard let next, let first = next.split(separator: "?").first,
      first.utf8.allSatisfy({ (0x61...0x7A).contains($0) }),
      next.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x5C })
    else { return "overview" }
    return next
  }
}
