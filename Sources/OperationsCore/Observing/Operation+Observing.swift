// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Operations can be observed.
extension Operation: KeyValueObservable, ObservationHost {
  /// The class that declares the properties that can be observed by name.
  public typealias ObservedRoot = Operation

  final var observations: KeyValueObservations? { withRare { $0?.observations } }

  static func keys(affecting key: String) -> Set<String> {
    AffectingKeys.keys(affecting: key, of: self)
  }

  /// Adds a registration, and then reads the initial value. A change between these two steps is
  /// reported twice. In the opposite order, such a change could be missed.
  final func register(_ registration: KeyValueRegistration) -> KeyValueObservations {
    let observations = makeRare { rare in
      let made = rare.observations ?? KeyValueObservations()
      rare.observations = made
      return made
    }
    observations.add(registration)
    // After the flag `observed` is set, a thread that changes the status announces the change. The
    // setting of the flag is sequentially consistent with the fence in `didChangeValue`. Either the
    // other thread sees the flag, or this thread reads the initial value after the other thread's
    // change.
    update { $0.insert(.observed) }
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    registration.notifyInitially(self)
    return observations
  }
}
