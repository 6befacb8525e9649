// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !Commands
  #error(
    """
    OperationsCommands needs the trait Commands of the package opq. In your Package.swift, add it to the \
    traits of the line of opq: .package(url: "…/opq", from: "…", traits: ["Commands"])
    """)
#endif
