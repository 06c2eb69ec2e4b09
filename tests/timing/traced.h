// Hand-made traces: assembles a micro-kernel and walks it as every wave of a launch would.
//
// A backward branch is taken `trips - 1` times; forward branches fall through. Where a memory instruction goes is the
// test's business: it names a pattern and a base for each execution.
#pragma once

#include "isa/codec.h"
#include "timing/estimate.h"
#include "timing/op_class.h"

#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <map>

namespace asmevo::timing {

struct Access {
  uint32_t pattern = machine::no_pattern;
  uint64_t base = 0;
};

struct Occurrence {
  uint32_t instruction; // index
  uint32_t times;       // executed before by this wave
  uint32_t workgroup, wave;
};

/// Building a codec takes milliseconds: one a processor.
inline const isa::Codec& codec_for(const isa::Target& target) {
  static std::map<isa::Processor, isa::Codec> codecs;
  auto at = codecs.find(target.processor);
  if (at == codecs.end()) at = codecs.emplace(target.processor, isa::Codec::create(target).value()).first;
  return at->second;
}

struct Traced {
  std::vector<isa::Instruction> code;
  isa::Target target;
  machine::Trace trace;
  std::array<uint32_t, 3> workgroups{1, 1, 1};
  uint32_t waves = 1;
  uint32_t resident = 8; // workgroups on a CU
  uint32_t trips = 1;    // of every loop
  std::function<Access(const Occurrence&)> access = [](const Occurrence&) { return Access{}; };

  /// Assembles `text`; `waves` a workgroup.
  explicit Traced(const std::string& text, uint32_t waves = 1, isa::Processor processor = isa::Processor::gfx942)
      : waves(waves) {
    target.processor = processor;
    const isa::Codec& codec = codec_for(target);
    auto bytes = codec.assemble(text);
    EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message);
    for (size_t at = 0; at < bytes->size();) {
      code.push_back(codec.decode(std::span(*bytes).subspan(at), at));
      at += code.back().size;
    }
  }

  uint32_t pattern(const machine::AccessPattern& p) {
    trace.patterns.push_back(p);
    return static_cast<uint32_t>(trace.patterns.size() - 1);
  }
  /// 64 lanes, `stride` bytes apart, `bytes` each.
  uint32_t strided(uint32_t stride, uint32_t bytes, machine::Space space = machine::Space::global, bool write = false,
                   uint32_t lanes = 64) {
    machine::AccessPattern p{.space = space, .write = write, .bytes = bytes};
    for (uint32_t lane = 0; lane < 64; ++lane) p.offset[lane] = lane < lanes ? lane * stride : machine::inactive_lane;
    return pattern(p);
  }

  machine::WaveTrace walk(uint32_t workgroup, uint32_t wave) const {
    machine::WaveTrace t{.workgroup = workgroup, .wave = wave};
    std::map<uint32_t, uint32_t> times;
    for (uint32_t i = 0; i < code.size();) {
      const uint32_t before = times[i]++;
      const auto& op = code[i];
      machine::TraceEvent event{.instruction = i};
      if (op.traits.vmem || op.traits.lds || op.traits.smem) {
        const Access a = access({i, before, workgroup, wave});
        event.pattern = a.pattern;
        event.base = a.base;
      }
      t.events.push_back(event);
      t.active_lanes.push_back(64);
      const bool back = op.traits.branch && op.branch_target >= 0 && op.branch_target <= int64_t(op.address);
      if (back && (before + 1) % trips != 0) {
        while (i > 0 && int64_t(code[i].address) > op.branch_target) --i;
        continue;
      }
      ++i;
    }
    return t;
  }

  TracedLaunch launch(const DeviceTable& device) {
    trace.waves.clear();
    const isa::Occupancy occupancy{.waves_per_simd = 8, .workgroups_per_cu = resident, .limiter = "waves"};
    for (uint32_t id : sample_workgroups(workgroups, occupancy, device))
      for (uint32_t w = 0; w < waves; ++w) trace.waves.push_back(walk(id, w));
    return {.code = code, .target = target, .trace = &trace, .occupancy = occupancy, .workgroups = workgroups};
  }

  Estimate estimate(const DeviceTable& device, EstimateOptions options = {.draws = 1}) {
    auto e = estimate_traced(launch(device), device, options);
    EXPECT_TRUE(e) << (e ? "" : e.error().message);
    return e ? *e : Estimate{};
  }
  double cycles(const DeviceTable& device) { return estimate(device).kernel_cycles; }
};

/// `line` repeated.
inline std::string times(unsigned count, const std::string& line) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += line + "\n";
  return text;
}

/// With ASMEVO_ROWS in the environment also a row for bench/timing/compare.sh.
inline testing::AssertionResult within(double value, double expected, double share) {
  if (std::getenv("ASMEVO_ROWS"))
    std::printf("%-68s %10.1f measured %10.1f predicted %+6.1f %%\n",
                testing::UnitTest::GetInstance()->current_test_info()->name(), expected, value,
                100 * (value / expected - 1));
  if (std::abs(value - expected) <= share * std::abs(expected)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << value << " is " << 100 * (value / expected - 1) << " % off " << expected;
}

} // namespace asmevo::timing
