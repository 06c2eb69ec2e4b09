// The list is the decoder's, not the machine's own tables': an instruction that nobody thought of is on it. Each opcode
// of each encoding is taken through the machine's decoder as it would be for an image.
#include "machine/coverage.h"

#include "isa/opcodes.h"
#include "machine/decode.h"

namespace asmevo::machine {

std::map<std::string, Support> coverage(const isa::Codec& codec) {
  std::map<std::string, Support> support;
  Pool pool;
  for (const isa::Instruction& i : isa::every_opcode(codec)) {
    const std::string name(isa::name_of(i));
    const bool executes = decode_op(i, {codec.target(), pool}).run != &run_unsupported;
    const Support found = executes ? support_of(name, codec.target().processor) : Support::unsupported;
    const auto [place, fresh] = support.emplace(name, found);
    if (!fresh) place->second = std::max(place->second, found);
  }
  return support;
}

} // namespace asmevo::machine
