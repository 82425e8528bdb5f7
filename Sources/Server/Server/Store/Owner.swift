import FerryModel

/// Whose an operation or an exchange is: a device of a user.
package struct Owner: Hashable, Sendable {
  package let device: ExactText
  package let user: ExactText

  package init(device: String, user: String) {
    self.device = ExactText(device)
    self.user = ExactText(user)
  }
}
