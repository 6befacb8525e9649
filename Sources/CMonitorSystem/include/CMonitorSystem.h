// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// The system calls of the monitor and of the viewer, for Linux with Glibc or musl. A port to another C library
// needs only another implementation of these functions, and of those in COperationsSystem.
//
// Unless its comment says otherwise, a function that can fail returns the negative error number. Error numbers are
// those of the system; see CMonitorSystemErrors.h.
#pragma once
#include "CMonitorSystemErrors.h"
#include "CMonitorSystemFiles.h"
#include "CMonitorSystemMath.h"
#include "CMonitorSystemProcesses.h"
#include "CMonitorSystemSignals.h"
#include "CMonitorSystemSockets.h"
#include "CMonitorSystemStorage.h"
#include "CMonitorSystemTerminal.h"
#include "CMonitorSystemText.h"
#include "CMonitorSystemTime.h"
