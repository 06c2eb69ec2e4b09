// The input as a profiler's file, matched with a small kernel. Databases need a file and are mutated by test_profile.
#include "profile/import/match.h"

using namespace asmevo;

namespace {

struct Kernel {
  isa::Codec codec = isa::Codec::create({}).value();
  std::vector<isa::Instruction> code;
  object::CodeObject object;

  Kernel() {
    const Bytes bytes = codec.assemble("v_add_f32_e32 v0, v0, v1\ns_waitcnt vmcnt(0)\ns_endpgm\n").value();
    for (size_t at = 0; at < bytes.size(); at += code.back().size)
      code.push_back(codec.decode(std::span(bytes).subspan(at), at));
    object.path = "kernel.hsaco";
    object.kernels = {{.name = "kernel", .code_size = bytes.size()}};
  }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Kernel kernel;
  const std::string path = "input";
  const auto reading = profile::read_text({reinterpret_cast<const char*>(data), size}, path);
  if (!reading) return 0;
  const auto profile =
      profile::match(*reading, {.object = kernel.object, .code = kernel.code, .codec = kernel.codec}, path);
  if (profile && !(profile->total() >= 0)) __builtin_trap();
  return 0;
}
