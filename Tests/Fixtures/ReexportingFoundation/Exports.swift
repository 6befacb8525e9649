// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Like modules that re-export Foundation's types to their users, for example FoundationNetworking
// and XCTest.
@_exported public import Foundation
