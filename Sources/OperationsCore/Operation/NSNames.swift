// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The Objective-C name of ``Operation``, for code that was translated from it.
///
/// Source: Apple, "NSOperation Class Reference".
public typealias NSOperation = Operation

/// The Objective-C name of ``OperationQueue``.
///
/// Source: Apple, "NSOperationQueue Class Reference".
public typealias NSOperationQueue = OperationQueue

/// The Objective-C name of ``BlockOperation``.
///
/// Source: Apple, "NSBlockOperation Class Reference".
public typealias NSBlockOperation = BlockOperation

/// The Objective-C name of ``InvocationOperation``, which has a closure instead of target and
/// selector.
///
/// Source: Apple, "NSInvocationOperation Class Reference".
public typealias NSInvocationOperation<Result: Sendable> = InvocationOperation<Result>
