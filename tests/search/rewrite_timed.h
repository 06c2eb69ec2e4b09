// Programs with an estimate, for what asks the timing model.
#pragma once

#include "rewrite_fixture.h"
#include "timing/rehearsal.h"
#include "timing/timing.h"

namespace asmevo::search::rewrite::testing {

/// A program that was run and timed, one workgroup of 64.
struct Timed {
  recover::Program program;
  std::optional<machine::Image> image;
  timing::Estimate estimate;

  explicit Timed(const std::string& body) : program(program_of(body)) {
    auto made = machine::Image::create(program.origin, codec());
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    if (!made) return;
    image.emplace(*std::move(made));
    machine::Memory memory;
    EXPECT_TRUE(image->load(memory, 0));
    machine::Dispatch dispatch{.kernel = &image->object().kernels.front(), .kernarg_address = 0x10000000};
    dispatch.workgroup_size = {64, 1, 1};
    EXPECT_TRUE(memory.map(dispatch.kernarg_address, 65536, machine::Access::read_write, "out"));
    auto run = machine::run(*image, dispatch, memory, {.traced = {0}});
    EXPECT_TRUE(run) << (run ? "" : run.error().message);
    if (!run) return;
    EXPECT_EQ(run->status, machine::Status::completed);
    const timing::Work work{.image = &*image, .trace = &run->trace, .resources = program.declared.front()};
    const timing::DeviceTable& device = timing::device_for(isa::Processor::gfx942);
    auto timed = timing::estimate(work, device, {.draws = 4, .attribution = true});
    EXPECT_TRUE(timed) << (timed ? "" : timed.error().message);
    if (!timed) return;
    estimate = *std::move(timed);
    auto rehearsal = timing::rehearse(work, std::make_shared<const machine::Trace>(run->trace), device, {});
    EXPECT_TRUE(rehearsal);
    if (rehearsal) estimate.rehearsal = *rehearsal;
  }

  State state() const {
    return {.program = &program,
            .function = &program.functions.front(),
            .estimate = &estimate,
            .image = &*image,
            .codec = &codec()};
  }
  Facts facts() const { return gather(state()); }
};

} // namespace asmevo::search::rewrite::testing
