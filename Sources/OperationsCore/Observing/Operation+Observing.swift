// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Operations can be observed.
extension Operation: KeyValueObservable, ObservationHost {
  /// The class that declares the named properties.
  public typealias ObservedRoot = Operation

  final var observations: KeyValueObservations? { withRare { $0?.observations } }

  static func keys(affecting key: String) -> Set<String> {
    AffectingKeys.keys(affecting: key, of: self)
  }

  /// Registers first and then reads the initial value: a change in between is reported in both
  /// ways, while the other order could miss it.
  final func register(_ registration: KeyValueRegistration) -> KeyValueObservations {
    let observations = makeRare { rare in
      let made = rare.observations ?? KeyValueObservations()
      rare.observations = made
      return made
    }
    observations.add(registration)
    // From this event on, a thread that changes the status announces it. Sequentially consistent
    // with the fence in `didChangeValue`: either that thread sees the flag, or its earlier change
    // is seen by the read below.
    update { $0.insert(.observed) }
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    registration.notifyInitially(self)
    return observations
  }
}
