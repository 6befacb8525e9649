// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// The programs of tests use the module `FixtureSupport` without the testing library, which has no static library.
@_exported public import FixtureSupport
