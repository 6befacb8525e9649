// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// The release build links the programs of tests statically. These programs use only `FixtureSupport`, because the
// testing library has no static version.
@_exported public import FixtureSupport
