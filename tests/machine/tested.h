// Which instructions the tests of this program have executed. A test that fails to exist is noticed when all have run:
// see every_instruction_is_tested.cpp.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace asmevo::machine {

inline std::set<std::string, std::less<>>& tested_mnemonics() {
  static std::set<std::string, std::less<>> names;
  return names;
}
inline void note_tested(std::string_view mnemonic) { tested_mnemonics().emplace(mnemonic); }

} // namespace asmevo::machine
