#if canImport(Glibc)
  import CCurl
  import Glibc

  extension CurlTransfer {
    /// Opens the sockets of this transfer ourselves: the address is looked at when it is connected to,
    /// and not when it was resolved.
    func setOpenSocket(_ easy: UnsafeMutableRawPointer) {
      ferry_curl_set_open_socket(easy, Unmanaged.passUnretained(self).toOpaque()) {
        context, _, address in
        guard let transfer = CurlTransfer.of(context), let address else { return -1 }
        return transfer.openSocket(address)
      }
    }

    private func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
      let family = address.pointee.family
      // The address stands 4 bytes into sockaddr_in and 8 into sockaddr_in6.
      let place: (offset: Int, count: Int)
      switch family {
      case AF_INET: place = (4, 4)
      case AF_INET6: place = (8, 16)
      default: return -1
      }
      // `addr` is declared as short as sockaddr, and libcurl keeps the whole address there.
      guard Int(address.pointee.addrlen) >= place.offset + place.count,
        let start = MemoryLayout<curl_sockaddr>.offset(of: \.addr)
      else { return -1 }
      let bytes = Array(
        UnsafeRawBufferPointer(
          start: UnsafeRawPointer(address) + start + place.offset, count: place.count))
      if let allowedAddresses, !allowedAddresses.contains(AddressKind(bytes)) {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(family, bytes, &text, socklen_t(text.count))
        refusedAddress = String(
          decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return -1
      }
      return socket(family, address.pointee.socktype | O_CLOEXEC, address.pointee.protocol)
    }
  }
#endif
