/// Media types of files, as `Content-Type` names them.
public enum HTTPMediaType {
  /// The media type that the ending of a file's name stands for; `application/octet-stream` for a
  /// name without an ending and for an ending that is not known. The file is not opened.
  public static func ofFile(at path: String) -> String {
    let name = path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return unknown }
    return types[name[name.index(after: dot)...].lowercased()] ?? unknown
  }

  private static let unknown = "application/octet-stream"

  /// What business apps attach. Names are those of IANA's registry.
  private static let types: [String: String] = [
    "atom": "application/atom+xml", "bmp": "image/bmp", "csv": "text/csv",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "gif": "image/gif", "gz": "application/gzip", "heic": "image/heic", "htm": "text/html",
    "html": "text/html", "ics": "text/calendar", "jpeg": "image/jpeg", "jpg": "image/jpeg",
    "json": "application/json", "m4a": "audio/mp4", "mov": "video/quicktime", "mp3": "audio/mpeg",
    "mp4": "video/mp4", "p12": "application/pkcs12", "pdf": "application/pdf", "png": "image/png",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "rtf": "application/rtf", "svg": "image/svg+xml", "tif": "image/tiff", "tiff": "image/tiff",
    "txt": "text/plain", "vcf": "text/vcard", "wav": "audio/wav", "webp": "image/webp",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xml": "application/xml", "zip": "application/zip",
  ]
}
