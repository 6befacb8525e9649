// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@Suite struct FirstVersionTests {
  /// The frames of ``FirstVersion/viewerMessages()`` as hexadecimal digits, encoded by version 1.0.
  private static let viewerFrames = [
    "0a110a064f50514d4f4e120208011880282001",
    """
    12580a510a0408031001120f73746174653a657865632074696c651801200128f403320303ac023a\
    070809100118ac023a0608091002184040d00f4a010450904e5a0a0880b09dc2df0110882760096a\
    0401020b0e1080e59a77
    """,
    "2008",
    "284d",
    "1a08080112040a020102",
    "1a0708021a030a0103",
    "1a080803220408041001",
    "1a0808042a0408041008",
    "1a0608052a020804",
    "1a120806320e0a010510ffffffffffffffffff01",
    "32060a0471756974",
  ]

  /// The frames of ``FirstVersion/processMessages`` as hexadecimal digits, encoded by version 1.0.
  private static let processFrames = [
    """
    0a360a064f50514d4f4e120208011a0574696c657320e72428013080e497d01239000010208cc0da\
    4140014a08316630633561336550d906
    """,
    """
    129102080118102a1d080312036e65741a100801100218032004280530063807400820092801323e\
    08920812056d657267651a0e4d657267654f7065726174696f6e2003280530023a0307ac02400248\
    0150285801600268037004780582010608802810e8073a01114013481452080a0101120103180158\
    1660156a180a12080b100c1a0675706c6f61642003280330041017180172130a0f080d1203474554\
    18032006280e300f10187a1908031201011a01612201032a016230033804400548809bee0282010a\
    0a0808141001180220038a01130a054d65726765120a12080814100118022003900180989abc049a\
    012208920810031a15080612116974732071756575652069732066756c6c2201082a0104
    """,
    "120d100122060892081201083a0107",
    "1a0b08021204010200031a0109",
    "204d",
    "2a170802120f616e6f746865722076657273696f6e1a020801",
  ]

  private func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap { $0.hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map {
      UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
  }

  @Test func viewerMessagesOfVersionOneStayReadable() throws {
    let messages = try FirstVersion.viewerMessages()
    #expect(messages.count == Self.viewerFrames.count)
    for (frame, message) in zip(Self.viewerFrames, messages) {
      #expect(try ViewerMessage(decoding: bytes(frame)) == message)
    }
  }

  @Test func processMessagesOfVersionOneStayReadable() throws {
    let messages = FirstVersion.processMessages
    #expect(messages.count == Self.processFrames.count)
    for (frame, message) in zip(Self.processFrames, messages) {
      #expect(try ProcessMessage(decoding: bytes(frame)) == message)
    }
  }
}
