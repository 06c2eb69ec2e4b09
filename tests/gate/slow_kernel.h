// A kernel that wastes time, with all that the gate needs to judge better and worse versions of it: out[i] = in[i] +
// in[i], after a delay loop that nobody needs.
#pragma once

#include "gate/pipeline.h"
#include "support/hash.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace asmevo::gate::testing {

inline isa::Codec& codec() {
  static isa::Codec codec = *isa::Codec::create({isa::Processor::gfx942, isa::Feature::any, isa::Feature::any});
  return codec;
}

inline const std::string slow_listing = R"(.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 6
.text
.globl twice
.p2align 8
.type twice,@function
twice:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshl_add_u32 v0, s2, 6, v0
  v_lshlrev_b32_e32 v0, 2, v0
  s_movk_i32 s8, 0x1000
.Ldelay:
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Ldelay
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[6:7]
  s_waitcnt vmcnt(0)
  v_add_f32_e32 v1, v1, v1
  global_store_dword v0, v1, s[4:5]
  s_endpgm
.Lend:
.size twice, .Lend-twice
.rodata
.p2align 6
.amdhsa_kernel twice
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 16
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: twice
    .symbol: twice.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .max_flat_workgroup_size: 64
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .agpr_count: 0
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}
...
.end_amdgpu_metadata
)";

inline const std::string slow_launch = R"({
  "kernel": "twice",
  "workgroups": 8,
  "workgroup_size": 64,
  "buffers": {
    "out": {"dtype": "f32", "shape": 512, "role": "out"},
    "in": {"dtype": "f32", "shape": 512, "role": "in", "fill": {"normal": [0, 1]}}
  },
  "arguments": [{"buffer": "out"}, {"buffer": "in"}]
})";

/// Passes everything on, counts, and can be told to spoil what launches return once something has been timed.
class WatchedDevice : public device::Device {
public:
  explicit WatchedDevice(std::unique_ptr<device::Device> device) : device_(std::move(device)) {}
  std::string description() const override { return device_->description(); }
  bool simulated() const override { return device_->simulated(); }
  Result<device::Loaded> load(std::shared_ptr<const object::CodeObject> object) override {
    return device_->load(std::move(object));
  }
  Result<device::Outcome> launch(const device::Loaded& loaded, const launch::Case& c,
                                 const device::LaunchOptions& options) override {
    if (++launches == stop_at_launch) stop = true;
    auto outcome = device_->launch(loaded, c, options);
    if (outcome && spoil_after_timing && times > 0 && loaded.object->path == "candidate") {
      for (auto& [name, contents] : outcome->buffers) {
        Bytes changed(contents.begin(), contents.end());
        changed.at(3) ^= 0x40;
        contents = std::move(changed);
      }
    }
    return outcome;
  }
  Result<timing::Estimate> time(const device::Loaded& loaded, const launch::Case& c,
                                const device::TimeOptions& options) override {
    ++times;
    return device_->time(loaded, c, options);
  }

  int launches = 0, times = 0, stop_at_launch = 0;
  bool stop = false; // set just before that launch
  bool spoil_after_timing = false;

private:
  std::unique_ptr<device::Device> device_;
};

/// K0 examined, a reference on the simulated device, a bench.
class SlowKernel : public ::testing::Test {
protected:
  void SetUp() override { open(slow_listing, slow_launch); }

  void open(const std::string& text, const std::string& launch_text) {
    directory = (std::filesystem::temp_directory_path() / fmt::format("asmevo-gate-{}", getpid())).string();
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    ASSERT_TRUE(write_text_file(directory + "/launch.json", launch_text));
    auto relocatable = codec().assemble_object(text);
    ASSERT_TRUE(relocatable) << relocatable.error().line << ": " << relocatable.error().message;
    auto unlinked = object::read_code_object(*relocatable, "slow.o");
    ASSERT_TRUE(unlinked) << unlinked.error().message;
    auto linked = recover::build(text, *unlinked, codec());
    ASSERT_TRUE(linked) << linked.error().line << ": " << linked.error().message;
    auto object = object::read_code_object(*linked, "slow.hsaco");
    ASSERT_TRUE(object) << object.error().message;
    k0 = std::make_shared<object::CodeObject>(*std::move(object));
    auto examined = examine(k0, "", codec());
    ASSERT_TRUE(examined) << examined.error().message;
    original = *std::move(examined);
    auto simulated = device::make_simulated(codec().target(), "");
    ASSERT_TRUE(simulated) << simulated.error().message;
    device = std::make_unique<WatchedDevice>(*std::move(simulated));
    auto launch = launch::read_launch(directory + "/launch.json");
    ASSERT_TRUE(launch) << launch.error().message;
    auto loaded = device->load(k0);
    ASSERT_TRUE(loaded) << loaded.error().message;
    auto created = oracle::Reference::create(*device, *loaded, *launch, oracle::default_policy(), {});
    ASSERT_TRUE(created) << created.error().message;
    reference.emplace(*std::move(created));
    bench.original = &original;
    bench.codec = &codec();
    bench.device = device.get();
    bench.reference = &*reference;
    device->launches = device->times = 0;
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  /// The item whose text begins so.
  size_t item(std::string_view text) const {
    for (size_t i = 0; i < original.program.items.size(); ++i)
      if (original.program.items[i].text.starts_with(text)) return i;
    ADD_FAILURE() << "no item " << text;
    return 0;
  }
  recover::Edit replace(std::string_view old_text, std::string new_text) const {
    size_t at = item(old_text);
    return {at, at + 1, std::move(new_text)};
  }
  /// The useless loop away, and the line that sets its counter.
  recover::Edit without_delay() const { return {item("s_movk_i32 s8"), item("s_cbranch_scc1") + 1, ""}; }

  std::string directory;
  std::shared_ptr<const object::CodeObject> k0;
  Original original;
  std::unique_ptr<WatchedDevice> device;
  std::optional<oracle::Reference> reference;
  Bench bench;
};

} // namespace asmevo::gate::testing
