// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#include "CMonitorSystemMath.h"
#include <math.h>

double cmonitor_log2(double number) { return log2(number); }

double cmonitor_log10(double number) { return log10(number); }

double cmonitor_cosine(double angle) { return cos(angle); }
