#include "cli/crew.h"

namespace asmevo::cli {

Result<std::vector<std::unique_ptr<ThreadBench>>> thread_benches(const Job& job, const gate::Bench& bench,
                                                                 unsigned count) {
  std::vector<std::unique_ptr<ThreadBench>> benches;
  for (unsigned k = 0; k < count; ++k) {
    AE_TRY(isa::Codec codec, isa::Codec::create(job.setting.input.codec.target()));
    AE_TRY(std::unique_ptr<device::Device> device,
           make_device(job.setting.input.codec.target(), job.lineage.info().device_part));
    auto made = std::make_unique<ThreadBench>(
        ThreadBench{.codec = std::move(codec),
                    .device = std::move(device),
                    .bench = {.original = bench.original, .reference = bench.reference, .settings = bench.settings}});
    made->bench.codec = &made->codec;
    made->bench.device = made->device.get();
    benches.push_back(std::move(made));
  }
  return benches;
}

} // namespace asmevo::cli
