// The parts, and the numbers that several of them share.
//
// A part's file states what is its own and takes the rest from its generation's set (cdna2.h, cdna3.h). Values are in
// shader clocks unless the parameter says otherwise; the error is the half width of the uniform draw.
#pragma once

#include "timing/device_table.h"

namespace asmevo::timing::devices {

extern const DeviceTable mi300x, mi300a, mi308x, mi250x, mi210, mi100, mi355x;

} // namespace asmevo::timing::devices
