#if canImport(CommonCrypto)
  import CommonCrypto
#else
  import COpenSSL
#endif

/// AES-256 of single blocks, only to derive keys: never for data.
enum BlockCipher {
  static func encrypt(_ blocks: [UInt8], key: [UInt8]) throws(CryptoError) -> [UInt8] {
    precondition(key.count == 32 && blocks.count % 16 == 0, "AES-256 takes whole blocks")
    var output = [UInt8](repeating: 0, count: blocks.count + 16)
    #if canImport(CommonCrypto)
      var length = 0
      let code = CCCrypt(
        CCOperation(kCCEncrypt), CCAlgorithm(kCCAlgorithmAES), CCOptions(kCCOptionECBMode), key,
        key.count, nil, blocks, blocks.count, &output, output.count, &length)
      let isDone = code == kCCSuccess && length == blocks.count
    #else
      let context = EVP_CIPHER_CTX_new()
      defer { EVP_CIPHER_CTX_free(context) }
      var length: Int32 = 0
      let isDone =
        EVP_EncryptInit_ex(context, EVP_aes_256_ecb(), nil, key, nil) == 1
        && EVP_CIPHER_CTX_set_padding(context, 0) == 1
        && EVP_EncryptUpdate(context, &output, &length, blocks, Int32(blocks.count)) == 1
        && Int(length) == blocks.count
    #endif
    guard isDone else {
      throw CryptoError("AES-256 could not be computed", hint: "Report this as a bug.")
    }
    return Array(output.prefix(blocks.count))
  }
}
