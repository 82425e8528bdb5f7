/// A day of the Gregorian calendar, and its number: the days from 1 January 1970 to it.
///
/// Years begin in March here, so that the leap day is their last. 400 years have always as many days.
package struct CivilDay: Hashable, Sendable {
  package let year: Int64
  /// 1 to 12.
  package let month: Int64
  /// 1 to 31.
  package let day: Int64

  private static let daysOf400Years: Int64 = 146_097
  /// From 1 March of the year 0 to 1 January 1970.
  private static let daysTo1970: Int64 = 719_468

  /// More days and years than anybody counts, and nothing overflows below.
  private static let limit: Int64 = 1_000_000_000_000_000

  /// The day of a number; of one beyond 10^15 the day of that.
  package init(number: Int64) {
    let shifted = min(max(number, -CivilDay.limit), CivilDay.limit) + CivilDay.daysTo1970
    let era =
      (shifted >= 0 ? shifted : shifted - (CivilDay.daysOf400Years - 1)) / CivilDay.daysOf400Years
    let dayOfEra = shifted - era * CivilDay.daysOf400Years
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    month = part < 10 ? part + 3 : part - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    day = dayOfYear - (153 * part + 2) / 5 + 1
  }

  /// The number of a day. Whether the month has such a day is not looked at: 30 February is the second
  /// day after 28 February. `month` is 1 to 12; a year beyond 10^12 counts as that.
  package static func number(year: Int64, month: Int64, day: Int64) -> Int64 {
    let ownYear =
      min(max(year, -CivilDay.limit / 1_000), CivilDay.limit / 1_000) - (month <= 2 ? 1 : 0)
    let era = (ownYear >= 0 ? ownYear : ownYear - 399) / 400
    let yearOfEra = ownYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * CivilDay.daysOf400Years + dayOfEra - CivilDay.daysTo1970
  }
}
