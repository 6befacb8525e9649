// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import ArgumentParser
public import DemoWorkloads

/// A demo is asked for by its name.
extension Demo: ExpressibleByArgument {}
