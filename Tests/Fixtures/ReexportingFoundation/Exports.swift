// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// This module re-exports Foundation's types to its users, as FoundationNetworking and XCTest do.
@_exported public import Foundation
