// How many wave-instructions a second the timing model simulates on one core, without and with attribution.
//
//   bench_timing_speed OBJECT LAUNCH
//
// Tracing happens once an estimate whatever the number of draws, so the difference of two estimates leaves the
// simulation alone.
#include "device/device.h"

#include "support/file.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace asmevo::bench {
namespace {

double seconds_of(device::Device& device, const device::Loaded& loaded, const launch::Case& c,
                  device::TimeOptions options) {
  const auto begin = std::chrono::steady_clock::now();
  if (auto e = device.time(loaded, c, options); !e) std::fprintf(stderr, "%s\n", e.error().message.c_str());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median_of(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ptrdiff_t(values.size() / 2));
  return values[values.size() / 2];
}

Result<void> measure(const std::string& path, const std::string& launch_path) {
  AE_TRY(Bytes bytes, read_file(path));
  AE_TRY(object::CodeObject read, object::read_code_object(std::move(bytes), path));
  const auto object = std::make_shared<const object::CodeObject>(std::move(read));
  AE_TRY(const isa::Target target, isa::target_from_elf(object->e_flags, object->abi_version, object->path));
  AE_TRY(auto device, device::make_simulated(target, ""));
  AE_TRY(const device::Loaded loaded, device->load(object));
  AE_TRY(launch::Launch launch, launch::read_launch(launch_path));
  launch::Case& c = launch.cases.front();
  AE_TRY(const object::Kernel* kernel, object::choose_kernel(*object, launch.kernel));
  c.kernel = kernel->name;

  AE_TRY(const timing::Estimate attributed, device->time(loaded, c, {.draws = 1, .attribution = true}));
  double instructions = 0;
  for (const timing::Attribution& a : attributed.attribution) instructions += double(a.issues);

  // Medians of differences between neighbouring runs, so that other work on the host cancels.
  constexpr unsigned many = 65;
  std::vector<double> simulations, books;
  for (int repeat = 0; repeat < 21; ++repeat) {
    const double once = seconds_of(*device, loaded, c, {.draws = 1});
    simulations.push_back((seconds_of(*device, loaded, c, {.draws = many}) - once) / (many - 1));
    books.push_back(seconds_of(*device, loaded, c, {.draws = 1, .attribution = true}) - once);
  }
  const double plain = median_of(simulations);
  std::printf("%s: %.0f wave-instructions a draw, %.2f M/s; attribution adds %.1f times that to its draw\n",
              path.c_str(), instructions, instructions / plain / 1e6, std::max(0.0, median_of(books) / plain));
  return {};
}

} // namespace
} // namespace asmevo::bench

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: bench_timing_speed OBJECT LAUNCH\n"), 2;
  if (auto ok = asmevo::bench::measure(argv[1], argv[2]); !ok)
    return std::fprintf(stderr, "%s\n", ok.error().message.c_str()), 2;
  return 0;
}
