import FerryHTTP
import FerryHTTPClient

/// A picture whose text a person has to write before the app registers.
///
/// It is good for one attempt within five minutes.
public struct CaptchaChallenge: Sendable, Equatable {
  /// Under which the server knows the picture.
  public let id: String
  /// The picture as PNG.
  public let picture: [UInt8]

  init?(_ headers: HTTPHeaders) {
    guard let id = headers["X-SUP-CAPTCHA-ID"], let text = headers["X-SUP-CAPTCHA-IMAGE"],
      let picture = BasicText.decode(text)
    else { return nil }
    self.id = id
    self.picture = picture
  }

  /// The answer for `register(_:answering:captcha:)`.
  public func answer(_ text: String) -> CaptchaAnswer { CaptchaAnswer(id: id, text: text) }
}

/// What a person has read in a picture.
public struct CaptchaAnswer: Sendable, Equatable {
  let id: String
  let text: String
}
