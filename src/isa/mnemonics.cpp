// The interned mnemonics. A deque never moves its strings, so the views stay good; reading a name takes a shared lock.
#include "isa/instruction.h"

#include <deque>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace asmevo::isa {
namespace {

struct Names {
  std::shared_mutex mutex;
  std::deque<std::string> names{"<unknown>"};
  std::unordered_map<std::string_view, uint16_t> ids{{names.front(), 0}};
};

Names& interned() {
  static Names* names = new Names; // never destroyed: instructions may outlive any static
  return *names;
}

} // namespace

std::string_view mnemonic_name(uint16_t id) {
  Names& all = interned();
  std::shared_lock lock(all.mutex);
  return id < all.names.size() ? all.names[id] : all.names[0];
}

uint16_t mnemonic_id(std::string_view name) {
  Names& all = interned();
  {
    std::shared_lock lock(all.mutex);
    if (auto found = all.ids.find(name); found != all.ids.end()) return found->second;
  }
  std::unique_lock lock(all.mutex);
  if (auto found = all.ids.find(name); found != all.ids.end()) return found->second;
  // Names come from LLVM's tables and from callers' own tables: some 2,000. Beyond 16 bits a name is unknown.
  if (all.names.size() > 0xffff) return 0;
  const auto id = static_cast<uint16_t>(all.names.size());
  all.names.emplace_back(name);
  all.ids.emplace(all.names.back(), id);
  return id;
}

} // namespace asmevo::isa
