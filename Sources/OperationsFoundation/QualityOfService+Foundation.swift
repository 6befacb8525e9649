// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  public import Foundation
  public import OperationsCore

  extension OperationsCore.QualityOfService {
    /// Creates the level with the same name as Foundation's, whose numbers differ on Linux.
    public init(_ foundationLevel: Foundation.QualityOfService) {
      switch foundationLevel {
      case .userInteractive: self = .userInteractive
      case .userInitiated: self = .userInitiated
      case .utility: self = .utility
      case .background: self = .background
      case .default: self = .default
      @unknown default: self = .default
      }
    }
  }

  extension Foundation.QualityOfService {
    /// Creates Foundation's level with the same name, for example for a `Thread`.
    public init(_ level: OperationsCore.QualityOfService) {
      switch level {
      case .userInteractive: self = .userInteractive
      case .userInitiated: self = .userInitiated
      case .utility: self = .utility
      case .background: self = .background
      case .default: self = .default
      }
    }
  }
#endif
