import Foundation

/// A certificate and its key, made by another program for these tests; they open nothing.
enum Sample {
  static let certificate = bytes(certificateText)
  static let key = bytes(keyText)
  /// Signatures of the certificate by another program.
  static let sha1Signature = bytes(sha1Text)
  static let sha256Signature = bytes(sha256Text)

  private static func bytes(_ base64: String) -> [UInt8] {
    Data(base64Encoded: base64).map { [UInt8]($0) } ?? []
  }

  private static let certificateText = """
    MIIDRDCCAiygAwIBAgIDHy49MA0GCSqGSIb3DQEBCwUAMDoxCzAJBgNVBAYTAkRFMRQwEgYDVQQKDAtGZXJyeSBU\
    ZXN0czEVMBMGA1UEAwwMQW5uYSBNw7xsbGVyMB4XDTI2MTEyMzIwMDM1NFoXDTM2MTEyMDIwMDM1NFowOjELMAkG\
    A1UEBhMCREUxFDASBgNVBAoMC0ZlcnJ5IFRlc3RzMRUwEwYDVQQDDAxBbm5hIE3DvGxsZXIwggEiMA0GCSqGSIb3\
    DQEBAQUAA4IBDwAwggEKAoIBAQC6rA+Maj42m5VA8MUoBnhlZJaqlrMe2an2DtAg7Hg0iRNlyit9ZYraC03laeu8\
    3nWFfOJfr2nLu5jOO8DRMncWhsytZ8/gMifFsOlQBTCoWeavyEPSFLGOXQDUA87eM8ZnxUXJhdEy+eJjtTUv9T3E\
    pOYAebSkUlpXGWma9aolRjQ9Im7pVqoTKmCgKoNCDLr3/VPQJ4KaZdlxamEALaE3VJqekK0JzjONwBTGENV2lESf\
    vlq2G8b8unv+LKEz+9R81xFXrH03BnXwH8ngFspz5JzSlM1J9wwijRfRr+ZdCu9kKpXHjf4RRhiN1P9PTpNl01jm\
    VQtGI7l4NWnJIaXHAgMBAAGjUzBRMB0GA1UdDgQWBBT2S6mlYxWyvkoKci0QRihOa7UJkDAfBgNVHSMEGDAWgBT2\
    S6mlYxWyvkoKci0QRihOa7UJkDAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA4IBAQCgo4UhqOyqgeWw\
    f7AKibryrBwgQj/yhzfpDDJbsB7+9CcD0P1m+j3vKkNSOGtoccrGJBEGG2NwpbDpPHipen2froNPm6Sy8oIa9+0v\
    +4wUJu8CKaNoU9H5gBSDbvF1nLz16O8yErVjtssEBmkFRMrjtUxaDAnsxQUfh3ZNh9qzAb7kpa4+9prE2CHXM/Tj\
    EavnCOKyTgT/DrOHGOILKTtHjbzOFEhtIAs/RUCi8rSiB7GZ/Cy38s2+7GiAyUp/YrxO5UDPhEdlrmrpWE7wFayk\
    +3HWo1t1B58E9SM98VFuQ0RpBZJmU4qDeTeShgHjHU3kWpc/twQVYNnLackBgz4J
    """

  private static let keyText = """
    MIIEowIBAAKCAQEAuqwPjGo+NpuVQPDFKAZ4ZWSWqpazHtmp9g7QIOx4NIkTZcorfWWK2gtN5WnrvN51hXziX69p\
    y7uYzjvA0TJ3FobMrWfP4DInxbDpUAUwqFnmr8hD0hSxjl0A1APO3jPGZ8VFyYXRMvniY7U1L/U9xKTmAHm0pFJa\
    VxlpmvWqJUY0PSJu6VaqEypgoCqDQgy69/1T0CeCmmXZcWphAC2hN1SanpCtCc4zjcAUxhDVdpREn75athvG/Lp7\
    /iyhM/vUfNcRV6x9NwZ18B/J4BbKc+Sc0pTNSfcMIo0X0a/mXQrvZCqVx43+EUYYjdT/T06TZdNY5lULRiO5eDVp\
    ySGlxwIDAQABAoIBADuU66mPx6e6ZRtDPkqWNht2zbhJPYbdRqho9flsQLnT/sMAkn0FyhnqfcR52GqCPtSKld6g\
    qI4EpLM+0z5ycxxXjkDS38DZgWRSIUYPQgaaG02ECFGnlTyxZrBFPuQhdnRsvOejtLAmniHhFsbl6f83+smwDv5b\
    4sXmMJTrUJFwl+Ws2JDx2CTegtpSRh5D1e8gr1yhSmm3r0nLcABWTXE569aBk0nY5dVGQ2SnS6CGWLt93o0r1XYu\
    6gdqzjgPB3v1tnZvY0RxLq+AMakioivkUp0n25r7SQ65oz/QWO9Tt1W1Pmerkv8SSsIe1hwP7DykKtQFt6bzvZuR\
    xe1e/wECgYEA/bveKyJXJljaed1gEcl268eiIfZsJK9DIO4hcibsA5WmRiQMeqVmbpUrzf3gHhIxYPdzTdjDfaVQ\
    0E8KHCNSWd2ag5F3FPqY1IHeYLOGunu0mbqQ3jhH4u6tgszjaBKzcMxazudM81Vfz2e7NzjW/fZ7IGFM0u9poRW4\
    hoeJM8ECgYEAvFbdPXcHPF62gqqLlQdhvs1j2npKOT2FvY+1yFmO/R7Jzdo6D1lQsSSWOfg0bvGdvW1SZIbdVUkp\
    r7f8Mam5E32EiLrzhR7Uo3QxSoNgnGKIMd/1VidokfZIK62xGEz6Lo/TQEr40/ja1TLPGdQP2TpfWZXKtuxVvBFU\
    zSPSG4cCgYEAogzaV7IW9ubIogxAzxtcWDmn0wkPCF7nAKEVu1IgaimpiCJ91dbNFNMwpt79xDbaUpO3kIBgWl66\
    vk+8pTvp3Hsrs9uzsjJaaV6IKDqAUZmwPn5pB4PqZYUKS/+PPWi0MdZSKNKQ0tgz2MLnTt1+cbR57rQ13IILdFXr\
    BACMIAECgYAdCiO4y3aRJ2VqxlMZWncGzXJ9CGgTZVoOvW7hAnYarzmchO542WOovKRxMcUb6iNRRt7yYx0TfmFw\
    F6VKHwpLaAocbv8HYpaU0WCcRZ+K3WJ0ljyk2RS1lMzR90kcHxpgPYrsGeM+A9vyDZCDQgBjlS2IiaElDVG22tFB\
    hClsVwKBgBlfR8idXaDi4Knffd0W9AuP/H7Xe0wMAh0T8HqpnZw1IKjaJxc/lmb5POUnHXs9CkAFwjAKAbO0g16p\
    Ql8+1vzvbUgnb9XGt1EtNasNYHur22YZ8OOp1nnDmh7SBHQtG8LITjTO4UejCQ8MthrXwf7nGftacTnSMDsFEXQw\
    GSdE
    """

  private static let sha1Text = """
    Y4kom5aP5RF7Jceyb1NPUxTyeBMT+qJ7n0C5sYfZv3SkZfamD6ymcU7VcNuZrliKYulPJzhRHeoxtamt0ILTZaMw\
    NfixvS0V8wGdTU18Fj3lbjfrlZf5p7lw+x04RBgreA5kGgXZId0c9f1Y1PuzNvv3D0ABkrQQy/ZYBuY66n2vh2gd\
    QNnESr2nvOixXxQ/CcmMmXLDztBXU1wTfMwcbsZGCKvB9Lx6fRaeOxmuxpyAGzJkghlVYBL0/t23CO5vRAmz9LkF\
    wR5rMzUj0c6Q7Wpwao6t7bX5RbsyI7DNO0b0cVLNLD4Umf0+3nmPjzX/RYpqxyegmnA1SyDNSnWD7A==
    """

  private static let sha256Text = """
    lHjO9ZWomjlB4XjyU3s+H5ah8jWffRhae5V6+zt+Lo+orHH9i84CJs4cZyHYeV/prrIrdsKxT9FZ2JI3p4Npl1kx\
    +WsU0qev790jIa0nxP+fUa+2RSErVnwEgvnUiIPY5GelcTAfuCzAuAPRV1gEjRdqF7Kbx1J3wkFnNAnyutVcmVuq\
    Cd4XEuyjuaCG8rF7Do4J6btScpuBXx0q3JGgOai3WnyLYavpTLo9KcS4gKeDM0DVKW54GXAoYCTwe9Ohlu3J0zxo\
    DbCmW3/atbXTDHSOdppvcUXgQ2FnN32Z6/3pgILtJJuHmQNfG9R+20dm1hoe7U+1qarH3AN+pBStPA==
    """
}
