// MI250X, one of its two dies (GCD), which software sees as a device of its own: 110 CUs, no memory-side cache.
#include "timing/devices/cdna2.h"
#include "timing/devices/devices.h"

namespace asmevo::timing::devices {

constinit const DeviceTable mi250x = {
    .name = "MI250X",
    .processor = isa::Processor::gfx90a,
    .compute_units = 110,
    .xcds = 1,
    .l1_bytes = 16384,
    .l2_bytes = 8u << 20,
    .mall_bytes = 0,
    .parameters = cdna2_part(),
};

} // namespace asmevo::timing::devices
