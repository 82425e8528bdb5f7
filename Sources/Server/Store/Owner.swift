import FerryModel

/// Whose an operation or an exchange is: a device of a user.
struct Owner: Hashable {
  let device: ExactText
  let user: ExactText

  init(device: String, user: String) {
    self.device = ExactText(device)
    self.user = ExactText(user)
  }
}
