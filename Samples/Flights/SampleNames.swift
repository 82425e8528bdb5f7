/// The names that the sample is made of.
enum SampleNames {
  static let agencies: [(id: String, name: String, city: String, country: String)] = [
    ("AG-01", "Sunshine Travel", "Rochester", "US"), ("AG-02", "Fly High", "Düsseldorf", "DE"),
    ("AG-03", "Happy Hopping", "Berlin", "DE"), ("AG-04", "Pink Panther", "Frankfurt", "DE"),
    ("AG-05", "Your Choice", "Rome", "IT"), ("AG-06", "Bella Italia", "Roma", "IT"),
    ("AG-07", "Hot Socks Travel", "Sydney", "AU"), ("AG-08", "Burns Nuclear", "Singapore", "SG"),
    ("AG-09", "Honauer Reisen", "Neumarkt", "AT"),
    ("AG-10", "Travel from Walldorf", "Walldorf", "DE"),
    ("AG-11", "Voyager Enterprises", "Stockholm", "SE"),
    ("AG-12", "Ben McCloskey", "Birmingham", "GB"),
  ]

  static let carriers: [(id: String, name: String, currency: String)] = [
    ("AA", "American Airlines", "USD"), ("AB", "Air Berlin", "EUR"), ("AC", "Air Canada", "CAD"),
    ("AF", "Air France", "EUR"), ("AZ", "Alitalia", "EUR"), ("BA", "British Airways", "GBP"),
    ("CO", "Continental Airlines", "USD"), ("DL", "Delta Airlines", "USD"),
    ("FJ", "Air Pacific", "USD"), ("JL", "Japan Airlines", "JPY"), ("LH", "Lufthansa", "EUR"),
    ("NG", "Lauda Air", "EUR"), ("NW", "Northwest Airlines", "USD"),
    ("QF", "Qantas Airways", "AUD"), ("SA", "South African Air", "ZAR"),
    ("SQ", "Singapore Airlines", "SGD"), ("SR", "Swiss", "CHF"), ("UA", "United Airlines", "USD"),
  ]

  static let airports: [String] = [
    "JFK", "SFO", "FRA", "TXL", "FCO", "NRT", "KIX", "SIN", "LHR", "CDG", "SYD", "VIE", "ZRH",
    "YYZ",
    "MIA", "DEN", "BOS", "JNB", "ARN", "MUC",
  ]

  static let streets: [String] = [
    "Hauptstraße", "134 West Street", "Rue du Lac", "Via Veneto", "Ängsvägen", "Station Road",
  ]

  static let first: [String] = [
    "Anna", "Björn", "Chloé", "Dmitri", "Elif", "Fatima", "George", "Hana", "Ines", "Jürgen",
    "Kofi",
    "Liu", "María", "Noor", "Ólafur", "Priya", "Quentin", "Rosa", "Siobhán", "Tomasz", "Uma",
    "Vera",
    "Wei", "Yara", "Zoë",
  ]

  static let last: [String] = [
    "Andersson", "Barth", "Castaño", "D'Oultrement", "Eriksen", "Ferrari", "García", "Hoffmann",
    "Ivanova", "Jeremias", "Kramer", "Lautenbach", "Müller", "Nakamura", "O'Brien", "Pratt",
    "Rahn", "Sommer", "Trensch", "Ümit", "Vrsic", "Wohl", "Yamada", "Zöllner",
  ]

  static let notes: [String] = [
    "vegetarian meal", "wheelchair", "window seat", "travels with a cello 🎻", "child of 4 years",
    "asks for \"quiet\" row", "pays at the desk",
  ]
}
