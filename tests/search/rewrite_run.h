// What a few lines of assembly leave behind on the machine.
#pragma once

#include "machine/machine.h"
#include "rewrite_fixture.h"

namespace asmevo::search::rewrite::testing {

/// What one workgroup leaves in the 4096 bytes where s[0:1] points, which are zero when it begins or `filled` with
/// something; nothing where it does not end as it should.
inline std::optional<Bytes> results_of(const std::string& text, uint32_t lds_bytes = 0, uint32_t work_items = 64,
                                       bool filled = false) {
  const auto code = codec().assemble(text);
  if (!code) {
    ADD_FAILURE() << code.error().message << "\n" << text;
    return std::nullopt;
  }
  auto image = machine::Image::from_text(*code, codec(),
                                         {.vgprs = 128, .agprs = 0, .accum_offset = 128, .lds_bytes = lds_bytes});
  EXPECT_TRUE(image);
  machine::Memory memory;
  machine::Dispatch dispatch;
  dispatch.kernel = &image->object().kernels.front();
  dispatch.workgroup_size = {work_items, 1, 1};
  dispatch.kernarg_address = 0x100000;
  auto mapped = memory.map(dispatch.kernarg_address, 4096, machine::Access::read_write, "out");
  EXPECT_TRUE(mapped);
  for (size_t k = 0; filled && k < mapped->size(); ++k) (*mapped)[k] = uint8_t(k * 37 + k / 64);
  const auto run = machine::run(*image, dispatch, memory, {.instruction_budget = 20000});
  EXPECT_TRUE(run);
  if (run->status != machine::Status::completed) return std::nullopt;
  return Bytes(mapped->begin(), mapped->end());
}

} // namespace asmevo::search::rewrite::testing
