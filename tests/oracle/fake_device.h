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
    for (size_t i = 0; i <= options.earlier.size(); ++i) {
      const bool last = i == options.earlier.size();
      device::LaunchOptions here = options;
      if (!last) {
        here.preload = options.earlier[i].preload;
        here.run.schedule = options.earlier[i].schedule.value_or(options.run.schedule);
      }
      outcome = run_in(memory, loaded.object->path, last ? c : options.earlier[i].c, here, i == 0);
      if (!last && options.on_earlier && !options.on_earlier(outcome)) return outcome;
      if (outcome.status != machine::Status::completed) return outcome;
    }
    return outcome;
  }

  Result<timing::Estimate> time(const device::Loaded&, const launch::Case&, const device::TimeOptions&) override {
    return fail("a fake device keeps no time");
  }

  std::map<std::string, int> launches;

private:
  device::Outcome run_in(std::map<std::string, Bytes>& memory, const std::string& kernel, const launch::Case& c,
                         const device::LaunchOptions& options, bool is_fresh) {
    device::Outcome outcome;
    for (const launch::Buffer& b : c.buffers)
      if (is_fresh || b.role == launch::Role::in || b.role == launch::Role::inout)
        memory[b.name] = *launch::initial_bytes(c, b, options.poison_seed);
    outcome.instructions = 100;
    World world{c, options, memory, outcome};
    kernels_.at(kernel)(world);
    if (outcome.instructions > options.run.instruction_budget) outcome.status = machine::Status::budget;
    for (const launch::Buffer& b : c.buffers)
      if (launch::is_result(b.role) && outcome.status == machine::Status::completed)
        outcome.buffers[b.name] = memory[b.name];
    return outcome;
  }

  std::map<std::string, Kernel> kernels_;
};

} // namespace asmevo::oracle::testing
