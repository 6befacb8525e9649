// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  public import Foundation
  public import OperationsCore

  extension OperationsCore.QualityOfService {
    /// Creates the quality of service with the same name as a value of Foundation. On Linux, the
    /// raw values differ from Foundation's.
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
    /// Creates the value of Foundation with the same name, for example for a `Thread`.
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
