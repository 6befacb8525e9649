// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once

/// Returns the logarithm of a number to the base 2.
double cmonitor_log2(double number);

/// Returns the logarithm of a number to the base 10.
double cmonitor_log10(double number);

/// Returns the cosine of an angle in radians.
double cmonitor_cosine(double angle);
