#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Whole files, read and written at once.
package enum TextFile {
  package static func read(_ path: String) throws(GeneratorError) -> [UInt8] {
    try requireNoFolder(path)
    do {
      return Array(try Data(contentsOf: URL(filePath: path)))
    } catch {
      throw GeneratorError(
        "\(path) cannot be read", hint: "Check that the file exists and is readable.")
    }
  }

  /// Throws where the path leads to a folder: what reads it as a file gets an error that misleads.
  package static func requireNoFolder(_ path: String) throws(GeneratorError) {
    guard (try? FileManager.default.contentsOfDirectory(atPath: path)) != nil else { return }
    throw GeneratorError(
      "\(path) is a folder, and a file is needed here", hint: "Name the file.")
  }

  /// Another reader sees the old text or the new one, never a part.
  package static func write(_ text: String, to path: String) throws(GeneratorError) {
    do {
      try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw GeneratorError(
        "\(path) cannot be written", hint: "Check that the folder exists and is writable."
      )
    }
  }

  /// The folder that a file is to be in, where it is not there.
  package static func makeFolder(of path: String) throws(GeneratorError) {
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
    let folder = String(path[..<slash])
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw GeneratorError(
        "\(folder) cannot be made", hint: "Name a folder that exists or can be created.")
    }
  }

  /// Leaves a file as it is that has this text, so that what was made of it need not be made again.
  package static func renew(_ text: String, at path: String) throws(GeneratorError) {
    guard (try? Data(contentsOf: URL(filePath: path))) != Data(text.utf8) else { return }
    try write(text, to: path)
  }

  package static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
  }

  /// The file beside this one.
  package static func sibling(of path: String, named name: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return name }
    return String(path[...slash]) + name
  }

  /// The last part of the path, without what follows its last dot.
  package static func stem(of path: String) -> String {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
    return String(name[..<dot])
  }
}
