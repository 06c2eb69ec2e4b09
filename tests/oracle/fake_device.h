// A device whose kernels are C++ functions: what the oracle must find out about a kernel, without the kernel.
#pragma once

#include "oracle/oracle.h"

#include "support/hash.h"
#include <cstring>

#include <algorithm>
#include <functional>

namespace asmevo::oracle::testing {

/// What a fake kernel sees and may do.
struct World {
  const launch::Case& c;
  const device::LaunchOptions& options;
  std::map<std::string, Bytes>& memory;
  device::Outcome& outcome;

  template <class T> std::span<T> view(const std::string& name) {
    Bytes& bytes = memory.at(name);
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  std::span<float> floats(const std::string& name) { return view<float>(name); }
};

using Kernel = std::function<void(World&)>;

class FakeDevice : public device::Device {
public:
  std::string description() const override { return "fake"; }
  bool simulated() const override { return true; }

  /// A code object whose only content is its name and a kernel that asks for preloaded arguments; two with different
  /// names have different hashes.
  device::Loaded add(const std::string& name, Kernel kernel) {
    kernels_[name] = std::move(kernel);
    auto object = std::make_shared<object::CodeObject>();
    object->path = name;
    object->bytes = Bytes(name.begin(), name.end());
    object->kernels.push_back({.name = name});
    object->kernels.back().descriptor.raw[58] = 2; // dwords of kernel arguments to preload
    return {object, std::nullopt};
  }

  Result<device::Loaded> load(std::shared_ptr<const object::CodeObject> object) override {
    return device::Loaded{object, {}};
  }

  Result<device::Outcome> launch(const device::Loaded& loaded, const launch::Case& c,
                                 const device::LaunchOptions& options) override {
    ++launches[loaded.object->path];
    std::map<std::string, Bytes> memory;
    device::Outcome outcome;
    std::vector<launch::Case> cases = options.earlier;
    cases.push_back(c);
    for (size_t i = 0; i < cases.size(); ++i) {
      for (const launch::Buffer& b : cases[i].buffers)
        if (i == 0 || b.role == launch::Role::in || b.role == launch::Role::inout)
          memory[b.name] = *launch::initial_bytes(cases[i], b, options.poison_seed);
      outcome.instructions = 100;
      World world{cases[i], options, memory, outcome};
      kernels_.at(loaded.object->path)(world);
      if (outcome.instructions > options.run.instruction_budget) outcome.status = machine::Status::budget;
      if (outcome.status != machine::Status::completed) return outcome;
    }
    for (const launch::Buffer& b : c.buffers)
      if (launch::is_result(b.role)) outcome.buffers[b.name] = memory[b.name];
    return outcome;
  }

  Result<timing::Estimate> time(const device::Loaded&, const launch::Case&, const device::TimeOptions&) override {
    return fail("a fake device keeps no time");
  }

  std::map<std::string, int> launches;

private:
  std::map<std::string, Kernel> kernels_;
};

} // namespace asmevo::oracle::testing
