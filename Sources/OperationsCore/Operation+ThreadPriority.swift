// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension Operation {
  static let defaultThreadPriority = 0.5

  /// How urgent the thread of ``main()`` is, from 0.0 to 1.0; 0.5 by default.
  ///
  /// A number outside is taken for the nearest one inside, and what is no number for the default.
  /// It may be set at any time.
  ///
  /// Stored and reported, and not applied to a thread: on Linux a thread without privileges may
  /// lower its own priority and cannot raise it again, and the threads of a queue go on to other
  /// operations. For the order in which a queue starts its operations see ``queuePriority``.
  ///
  /// Source: Apple, "NSOperation", `threadPriority`.
  public final var threadPriority: Double {
    get { withRare { $0?.threadPriority ?? Self.defaultThreadPriority } }
    set {
      let priority =
        newValue.isNaN ? Self.defaultThreadPriority : min(max(newValue, 0.0), 1.0)
      makeRare { $0.threadPriority = priority }
    }
  }
}
