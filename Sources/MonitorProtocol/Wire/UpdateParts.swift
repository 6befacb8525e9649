// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The frames of an update, one by one: what has changed may be more than one holds.
///
/// Each is the bytes of a ``ProcessMessage/updatePart(_:)``, and is made when it is asked for. It grows
/// to ``WireLimits/softPartSize`` and one item more, so that it is well within
/// ``WireLimits/maximumFrame``. There is one at least. An ``UpdateAssembler`` makes the update again of
/// what these decode to.
public struct UpdateParts: Sequence, IteratorProtocol, Sendable {
  private var splitter: UpdateSplitter

  /// Takes an update apart.
  public init(_ update: Update) { splitter = UpdateSplitter(update) }

  /// The next frame, without its length; `nil` behind the last one.
  public mutating func next() -> [UInt8]? {
    splitter.next().map { ProcessMessage.updatePart($0).encoded() }
  }
}
