/// Decides what a presented refresh token of a session is worth. Pure.
///
/// A session's tokens are numbered from 1. The used token gives the same successor again until that
/// was used: an answer that is lost logs nobody out. A token whose successor was used is in two hands,
/// and ends the session for both.
struct RefreshMachine {
  enum Verdict: Equatable {
    /// The successor's number; it is the highest one that was presented that comes before it.
    case next(Int64)
    case reused
  }

  /// `used`: the highest number that was presented. A number beyond what was given out is of a store
  /// that was restored to an earlier state: the token is good, and the store catches up.
  func judge(_ number: Int64, used: Int64) -> Verdict {
    number < used ? .reused : .next(number + 1)
  }
}
