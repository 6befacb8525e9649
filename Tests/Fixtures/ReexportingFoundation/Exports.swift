// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// As modules do that hand Foundation's types to their users, FoundationNetworking and XCTest for two.
@_exported public import Foundation
