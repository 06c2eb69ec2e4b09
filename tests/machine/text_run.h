// A dispatch of bare text over one buffer.
#pragma once

#include "wave_fixture.h"

#include <cstring>

namespace asmevo::machine {

inline constexpr uint64_t out_base = 0x7f0000000000;

/// The kernel finds the buffer's address in s[0:1] and workgroup ids in s2, s3, s4.
struct TextRun {
  Memory memory;
  Dispatch dispatch;
  RunOptions options;
  std::span<uint8_t> out;
  Image image;

  explicit TextRun(const std::string& text, uint64_t bytes = 1 << 16,
                   isa::Resources resources = {.vgprs = 32, .lds_bytes = 1024},
                   isa::Processor processor = isa::Processor::gfx942) {
    const isa::Codec& codec = codec_for(processor);
    auto code = codec.assemble(text + "\ns_endpgm\n");
    EXPECT_TRUE(code) << code.error().message << " in line " << code.error().line;
    auto made = Image::from_text(*code, codec, resources);
    EXPECT_TRUE(made) << made.error().message;
    image = *made;
    out = *memory.map(out_base, bytes, Access::read_write, "out");
    dispatch.kernel = &image.object().kernels.front();
    dispatch.kernarg_address = out_base;
  }
  RunResult run() {
    auto result = machine::run(image, dispatch, memory, options);
    EXPECT_TRUE(result) << result.error().message;
    return *result;
  }
  uint32_t dword(uint64_t index) {
    uint32_t value;
    std::memcpy(&value, out.data() + 4 * index, 4);
    return value;
  }
  void set_dword(uint64_t index, uint32_t value) { std::memcpy(out.data() + 4 * index, &value, 4); }
};

} // namespace asmevo::machine
