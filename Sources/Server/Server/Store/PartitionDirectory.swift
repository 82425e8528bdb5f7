/// The numbers of partitions; a partition is made when something belongs to it or asks for it.
final class PartitionDirectory {
  private let store: any Store
  private var numbers: [Place: Int64] = [:]
  private var places: [Int64: Place] = [:]
  /// How many are kept in memory; what is over is read again.
  static let limit: Int = 100_000

  init(_ store: any Store) { self.store = store }

  /// To be called when a transaction that may have made partitions was rolled back.
  func forget() {
    numbers = [:]
    places = [:]
  }

  func number(of place: Place) throws(StoreError) -> Int64? {
    if let known = numbers[place] { return known }
    guard let number = try store.partition(at: place) else { return nil }
    note(number, place)
    return number
  }

  /// Makes it where it is missing. `user`: who asks for it; nil where a row lies in it.
  func number(
    of place: Place, making transaction: NumberedTransaction, for user: String?
  ) throws(StoreError) -> Int64 {
    if let known = try number(of: place) { return known }
    let number = try store.makePartition(place, for: user, transaction)
    note(number, place)
    return number
  }

  func place(of number: Int64) throws(StoreError) -> Place? {
    if let known = places[number] { return known }
    guard let place = try store.place(of: number) else { return nil }
    note(number, place)
    return place
  }

  /// Removes partitions of which nothing is left, not even a row that left them. A device that comes
  /// back later begins them anew, under another number.
  func remove(_ numbers: [Int64], _ transaction: NumberedTransaction) throws(StoreError) {
    try store.removePartitions(numbers, transaction)
    for number in numbers {
      if let place = places.removeValue(forKey: number) { self.numbers[place] = nil }
    }
  }

  /// All places of one rule in one group, in the order of their numbers.
  func places(group: String, rule: String) throws(StoreError) -> [Place] {
    try store.places(group: group, rule: rule)
  }

  private func note(_ number: Int64, _ place: Place) {
    if numbers.count >= PartitionDirectory.limit { forget() }
    numbers[place] = number
    places[number] = place
  }
}
