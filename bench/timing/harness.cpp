#include "timing/harness.h"

#include "recover/descriptor.h"
#include "support/file.h"

#include <algorithm>
#include <cmath>

namespace asmevo::bench {

namespace {

constexpr uint64_t load_base = 0x10000000, kernarg_base = 0x20000000, buffers = 0x7f0000000000;

void unload(machine::Memory& memory) {
  std::vector<uint64_t> bases;
  for (const machine::Region& r : memory.regions())
    if (r.base < buffers) bases.push_back(r.base);
  for (uint64_t base : bases) memory.unmap(base);
}

} // namespace

Result<Harness> Harness::create(const std::string& part) {
  AE_TRY(const timing::DeviceTable* device, timing::device_named(part));
  AE_TRY(isa::Codec codec, isa::Codec::create(isa::Target{.processor = device->processor}));
  return Harness(std::move(codec), *device);
}

Result<const Harness::Program*> Harness::load(const std::string& path) {
  if (const auto at = programs_.find(path); at != programs_.end()) return &at->second;
  AE_TRY(Bytes bytes, read_file(path));
  AE_TRY(object::CodeObject object, object::read_code_object(std::move(bytes), path));
  auto shared = std::make_shared<const object::CodeObject>(std::move(object));
  AE_TRY(machine::Image image, machine::Image::create(shared, codec_));
  return &programs_.emplace(path, Program{shared, std::move(image)}).first->second;
}

Result<timing::Estimate> Harness::time(const KernelLaunch& launch, machine::Memory& memory,
                                       const timing::EstimateOptions& options) {
  AE_TRY(const Program* program, load(launch.path));
  AE_TRY(const object::Kernel* kernel, object::choose_kernel(*program->object, launch.kernel));
  AE_CHECK(program->image.load(memory, load_base));
  AE_TRY(auto kernarg, memory.map(kernarg_base, launch.kernarg.size(), machine::Access::read_only, "kernarg"));
  std::ranges::copy(launch.kernarg, kernarg.begin());
  const auto processor = codec_.target().processor;
  const uint32_t items = launch.workgroup_size[0] * launch.workgroup_size[1] * launch.workgroup_size[2];
  timing::Work work{.image = &program->image,
                    .resources = recover::declared_resources(kernel->descriptor, codec_.target()),
                    .workgroups = launch.workgroups,
                    .workgroup_size = items,
                    .dynamic_lds = launch.dynamic_lds};
  const auto occupancy = isa::occupancy(work.resources, processor, items, launch.dynamic_lds);
  const machine::Dispatch dispatch{.kernel = kernel,
                                   .load_base = load_base,
                                   .kernarg_address = kernarg_base,
                                   .workgroups = launch.workgroups,
                                   .workgroup_size = launch.workgroup_size,
                                   .dynamic_lds = launch.dynamic_lds};
  auto result = machine::run(program->image, dispatch, memory,
                             timing::sampling(program->image, launch.workgroups, occupancy, *device_));
  unload(memory);
  if (!result) return std::unexpected(result.error());
  if (result->status != machine::Status::completed)
    return fail("{}: {}", kernel->name, result->fault ? result->fault->message : "did not finish");
  work.trace = &result->trace;
  return timing::estimate(work, *device_, options);
}

Errors errors_of(std::vector<Pair> pairs) {
  Errors e{.rows = pairs.size()};
  if (pairs.empty()) return e;
  double error = 0, weight = 0;
  std::vector<double> relative;
  for (const Pair& p : pairs) {
    error += std::abs(p.predicted - p.measured);
    weight += p.measured;
    relative.push_back(std::abs(p.predicted / p.measured - 1));
    e.mean += relative.back() / double(pairs.size());
  }
  std::ranges::sort(relative);
  e.weighted = error / weight;
  e.median = relative[relative.size() / 2];
  e.worst = relative.back();
  return e;
}

} // namespace asmevo::bench
