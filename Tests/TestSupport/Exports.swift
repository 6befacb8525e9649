// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// The fixtures `programs` and `measure` use only `FixtureSupport`. The release build links them statically, and the
// testing library has no static version.
@_exported public import FixtureSupport
