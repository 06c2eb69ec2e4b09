// Choosing a device, and drawing from its error bars.
#include "timing/device_table.h"

#include "timing/devices/devices.h"

#include <bit>
#include <cctype>

namespace asmevo::timing {

std::span<const DeviceTable* const> all_devices() {
  // The first of a processor is its default part.
  static const DeviceTable* const parts[] = {&devices::mi300x, &devices::mi300a, &devices::mi308x, &devices::mi210,
                                             &devices::mi250x, &devices::mi100,  &devices::mi355x};
  return parts;
}

const DeviceTable& device_for(isa::Processor processor) {
  for (const DeviceTable* part : all_devices())
    if (part->processor == processor) return *part;
  return devices::mi100; // gfx906 has no part of its own here: the nearest generation
}

static bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

Result<const DeviceTable*> device_named(std::string_view name) {
  std::string known;
  for (const DeviceTable* part : all_devices()) {
    if (same_letters(part->name, name)) return part;
    known += known.empty() ? part->name : std::string(", ") + part->name;
  }
  return fail("device \"{}\": not a device of the timing model; it knows {}", name, known);
}

std::string_view device_name(const DeviceTable& device) { return device.name; }

// splitmix64: every (seed, draw, parameter) has its own number, independent of the order they are asked for.
static double unit_interval(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  x ^= x >> 31;
  return double(x >> 11) * 0x1p-53;
}

Values draw(const DeviceTable& device, uint64_t seed, unsigned number) {
  const auto table = std::bit_cast<std::array<Parameter, parameter_count>>(device.parameters);
  std::array<double, parameter_count> values;
  for (size_t i = 0; i < parameter_count; ++i) {
    const double u = number == 0 ? 0 : 2 * unit_interval((seed * 0x10001 + number) * 0x1000 + i) - 1;
    values[i] = table[i].value + u * table[i].error;
  }
  return std::bit_cast<Values>(values);
}

Values shift(const DeviceTable& device, size_t parameter, double part) {
  auto values = std::bit_cast<std::array<double, parameter_count>>(draw(device, 0, 0));
  values[parameter] += part * parameter_of(device, parameter).error;
  return std::bit_cast<Values>(values);
}

Parameter parameter_of(const DeviceTable& device, size_t index) {
  return std::bit_cast<std::array<Parameter, parameter_count>>(device.parameters)[index];
}

} // namespace asmevo::timing
