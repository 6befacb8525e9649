// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !Lifecycle
  #error(
    """
    OperationsLifecycle needs the trait Lifecycle of the package opq. In your Package.swift, add it to the \
    traits of the line of opq: .package(url: "…/opq", from: "…", traits: ["Lifecycle"])
    """)
#endif
