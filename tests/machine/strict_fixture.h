// Runs a few lines of assembly in strict mode.
#pragma once

#include "text_run.h"

#include <algorithm>

namespace asmevo::machine {

/// s[0:1] is the address of `out`, s2, s3, s4 the workgroup, v0 the work-item. v1 is 4 times the lane, s20 is the wave.
struct StrictRun : TextRun {
  RunResult result;

  explicit StrictRun(const std::string& text, uint32_t work_items = 64,
                     isa::Processor processor = isa::Processor::gfx942, uint32_t workgroups = 1)
      : TextRun(text, 1 << 16, {.vgprs = 64, .agprs = 16, .accum_offset = 64, .lds_bytes = 4096, .scratch_bytes = 64},
                processor) {
    options.strict = true;
    dispatch.workgroup_size = {work_items, 1, 1};
    dispatch.workgroups = {workgroups, 1, 1};
    memory.set_guards(out_base, 0, 4096);
    result = run();
    EXPECT_NE(result.status, Status::fault) << result.fault->message;
  }

  size_t count(FindingKind kind) const {
    return size_t(std::ranges::count(result.strict.findings, kind, &Finding::kind));
  }
  const Finding* find(FindingKind kind) const {
    auto found = std::ranges::find(result.strict.findings, kind, &Finding::kind);
    return found == result.strict.findings.end() ? nullptr : &*found;
  }
  std::string_view mnemonic(int64_t index) const {
    return index < 0 ? "" : isa::name_of(image.instructions()[size_t(index)]);
  }
  /// "ds_read_b32 <- ds_write_b32: message", a line each.
  std::string text() const {
    std::string all;
    for (const Finding& f : result.strict.findings)
      all += fmt::format("{}: {} <- {}: {} ({}x)\n", name_of(f.kind), mnemonic(f.instruction), mnemonic(f.cause),
                         f.message, f.count);
    return all;
  }
};

} // namespace asmevo::machine
