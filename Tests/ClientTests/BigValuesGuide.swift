import Ferry

/// What the app shows of a way that takes long.
@MainActor protocol ProgressBar: Sendable {
  func show(_ done: Int64, of size: Int64)
}

/// The code of Documentation/BigValues.md, which a test compares with what is printed there.
enum BigValuesGuide {
  static func write(_ draft: Photo, in database: FerryDatabase) async throws {
    // GUIDE begins
    let made = try await database.transaction {
      var photo = draft
      try photo.create()
      try photo.image.copyFrom(file: "/tmp/quay.jpg")
      return photo
    }
    // GUIDE ends
    _ = made
  }

  static func stream(_ photo: Photo, _ strips: [[UInt8]]) throws {
    // GUIDE begins
    let writer = try photo.image.openForWrite()
    for strip in strips { try writer.write(strip) }
    try writer.close()
    // GUIDE ends
  }

  static func read(_ photo: Photo, show: @Sendable @escaping ([UInt8]) -> Void) async throws {
    // GUIDE begins
    if try !photo.image.isDownloaded { print("\(try photo.image.length) bytes are to come") }
    for try await piece in photo.image.pieces { show(piece) }

    let reader = try await photo.image.openForRead()
    try reader.seek(to: 600_000)
    let header = try reader.read(upTo: 16)
    // GUIDE ends
    show(header ?? [])
  }

  static func follow(_ photo: Photo, _ bar: ProgressBar) async throws {
    // GUIDE begins
    for await progress in try photo.image.progress {
      await bar.show(progress.doneBytes, of: progress.sizeBytes)
    }
    // GUIDE ends
  }

  static func text(_ photo: Photo) async throws {
    // GUIDE begins
    try photo.report.write("All is well, but for the paint.")
    let report = try await photo.report.read()
    // GUIDE ends
    print(report ?? "")
  }

  static func offline(_ photo: Photo) async throws {
    // GUIDE begins
    do {
      try await photo.image.download()
    } catch {
      print("\(error.code.rawValue): \(error.message). \(error.hint)")
    }
    // GUIDE ends
  }
}
