#if canImport(Security)
  import Foundation
  import Security

  /// Answers what a server's TLS asks: whether it is trusted, and who this client is.
  final class ServerJudge: Sendable {
    private let options: TransportOptions
    private let desk: TrustDesk?

    init(_ options: TransportOptions) {
      self.options = options
      desk = options.trustListener.map(TrustDesk.init)
    }

    func answer(
      _ challenge: URLAuthenticationChallenge,
      _ completion:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let space = challenge.protectionSpace
      switch space.authenticationMethod {
      case NSURLAuthenticationMethodServerTrust:
        guard let trust = space.serverTrust else {
          return completion(.performDefaultHandling, nil)
        }
        let problem = problem(of: trust)
        if problem == nil {
          completion(.useCredential, URLCredential(trust: trust))
        } else if let desk, let problem {
          ask(desk, "\(space.host):\(space.port)", trust, problem, completion)
        } else {
          completion(.cancelAuthenticationChallenge, nil)
        }
      case NSURLAuthenticationMethodClientCertificate:
        guard let identity = options.identity?.secIdentity else {
          return completion(.performDefaultHandling, nil)
        }
        completion(
          .useCredential,
          URLCredential(identity: identity, certificates: nil, persistence: .none))
      default: completion(.performDefaultHandling, nil)
      }
    }

    /// Why the server is not trusted; nil if it is. The file is read at each handshake, so that a
    /// renewed authority needs no restart.
    private func problem(of trust: SecTrust) -> String? {
      if case .file(let file) = options.trust {
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        let anchors = ServerCertificate.all(pem: text).compactMap {
          SecCertificateCreateWithData(nil, Data($0.der) as CFData)
        }
        guard !anchors.isEmpty,
          SecTrustSetAnchorCertificates(trust, anchors as CFArray) == errSecSuccess,
          SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess
        else { return "\(file) has no certificate" }
      }
      var reason: CFError?
      guard !SecTrustEvaluateWithError(trust, &reason) else { return nil }
      return reason.map { CFErrorCopyDescription($0) as String } ?? "the system does not trust it"
    }

    private func ask(
      _ desk: TrustDesk, _ server: String, _ trust: SecTrust, _ problem: String,
      _ completion:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let found = (SecTrustCopyCertificateChain(trust) as? [SecCertificate]) ?? []
      let chain = found.compactMap {
        ServerCertificate(der: Array(SecCertificateCopyData($0) as Data))
      }
      let own = chain.first?.publicKeyPin
      let credential = URLCredential(trust: trust)
      Task {
        var pin = await desk.pin(of: server)
        if pin == nil || pin != own {
          pin = await desk.ask(server, failed: pin, problem: problem) { chain }
        }
        if let pin, pin == own {
          completion(.useCredential, credential)
        } else {
          completion(.cancelAuthenticationChallenge, nil)
        }
      }
    }
  }

  extension ClientIdentity {
    /// The identity in the file; nil where the password is wrong.
    var secIdentity: SecIdentity? {
      let words = [kSecImportExportPassphrase as String: password] as CFDictionary
      var items: CFArray?
      guard SecPKCS12Import(Data(pkcs12) as CFData, words, &items) == errSecSuccess,
        let first = (items as? [[String: Any]])?.first,
        let value = first[kSecImportItemIdentity as String]
      else { return nil }
      return CFGetTypeID(value as CFTypeRef) == SecIdentityGetTypeID()
        ? unsafeDowncast(value as AnyObject, to: SecIdentity.self) : nil
    }
  }

  /// Feeds a stream of URLSession from the source of a body, as fast as it is read.
  enum BodyStream {
    /// Bytes between the source and the system.
    private static let bufferBytes = 64 * 1024

    static func open(_ upload: TransportUpload) -> InputStream? {
      guard let source = try? upload.open() else { return nil }
      var input: InputStream?
      var output: OutputStream?
      Stream.getBoundStreams(
        withBufferSize: bufferBytes, inputStream: &input, outputStream: &output)
      guard let input, let output else { return nil }
      let pipe = Pipe(output)
      output.open()
      Thread.detachNewThread { pipe.run(source) }
      return input
    }

    /// `@unchecked Sendable`: used by its own thread only.
    private final class Pipe: @unchecked Sendable {
      private let output: OutputStream

      init(_ output: OutputStream) { self.output = output }

      func run(_ source: any TransportBodySource) {
        defer { output.close() }
        while let piece = Self.next(source) {
          var rest = piece[...]
          while !rest.isEmpty {
            let written = rest.withUnsafeBufferPointer { buffer in
              buffer.baseAddress.map { output.write($0, maxLength: buffer.count) } ?? 0
            }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
          }
        }
      }

      /// `@unchecked Sendable`: written before the semaphore is signalled, read after.
      private final class Box: @unchecked Sendable { var piece: [UInt8]? }

      private static func next(_ source: any TransportBodySource) -> [UInt8]? {
        let box = Box()
        let done = DispatchSemaphore(value: 0)
        Task {
          box.piece = try? await source.next()
          done.signal()
        }
        done.wait()
        return box.piece
      }
    }
  }
#endif
