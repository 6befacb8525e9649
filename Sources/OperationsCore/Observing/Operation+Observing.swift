// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Operations can be observed.
extension Operation: KeyValueObservable, ObservationHost {
  /// The class whose properties have names.
  public typealias ObservedRoot = Operation

  final var observations: KeyValueObservations? { withRare { $0?.observations } }

  static func keys(affecting key: String) -> Set<String> {
    AffectingKeys.keys(affecting: key, of: self)
  }

  /// First registers and then reads the initial value: a change in between is told by both ways,
  /// where the other order could miss it.
  final func register(_ registration: KeyValueRegistration) -> KeyValueObservations {
    let observations = makeRare { rare in
      let made = rare.observations ?? KeyValueObservations()
      rare.observations = made
      return made
    }
    observations.add(registration)
    // From this event on whoever changes the status announces it. Sequentially consistent with the
    // fence in `didChangeValue`: either that sees the flag, or what was changed before it is seen
    // by the reading below.
    update { $0.insert(.observed) }
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    registration.notifyInitially(self)
    return observations
  }
}
