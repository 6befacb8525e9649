// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Keeps objects until the process ends.
public enum Forever {
  /// Keeps an object, which is never freed.
  public static func keep(_ object: AnyObject) { _ = Unmanaged.passRetained(object) }
}
