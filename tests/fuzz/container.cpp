// Whatever the file: its bundles can be listed, opened and changed, or there is an error. The input is taken as it is,
// and once more behind each magic word, which few mutations would find.
#include "object/container.h"

using namespace asmevo;

namespace {

void use(Bytes bytes) {
  auto container = object::read_container(std::move(bytes), "input");
  if (!container) return;
  for (size_t i = 0; i < container->bundles.size(); i++) {
    auto bundle = object::open_bundle(*container, i);
    if (!bundle) continue;
    for (size_t e = 0; e < std::min<size_t>(bundle->entries.size(), 8); e++)
      (void)object::replace_entry(*container, i, e, bundle->data(bundle->entries[e]));
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  use(Bytes(data, data + size));
  for (std::string_view magic : {"__CLANG_OFFLOAD_BUNDLE__", "CCOB"}) {
    Bytes bytes(magic.begin(), magic.end());
    bytes.insert(bytes.end(), data, data + size);
    use(std::move(bytes));
  }
  return 0;
}
