#include "machine/watcher.h"

#include "machine/modal.h"

#include <ranges>

namespace asmevo::machine {

namespace {

class Combined : public Watcher {
public:
  explicit Combined(std::vector<std::unique_ptr<Watcher>> parts) : parts_(std::move(parts)) {}

  void begin(std::span<Wave> waves) override {
    for (auto& part : parts_) part->begin(waves);
  }
  void before(Wave& w, uint32_t index) override {
    for (auto& part : parts_) part->before(w, index);
  }
  void after(Wave& w, uint32_t index) override {
    for (auto& part : parts_ | std::views::reverse) part->after(w, index);
  }

private:
  std::vector<std::unique_ptr<Watcher>> parts_;
};

} // namespace

std::unique_ptr<Watcher> combined(std::vector<std::unique_ptr<Watcher>> watchers) {
  if (watchers.empty()) return nullptr;
  if (watchers.size() == 1) return std::move(watchers.front());
  return std::make_unique<Combined>(std::move(watchers));
}

void step(Wave& w) {
  if (w.events & event::modal) return step_modal(w);
  const Op& op = *w.next++;
  op.run(w, op);
}

uint32_t Watcher::run(Wave& w, uint32_t quantum) {
  const uint32_t count = uint32_t(w.workgroup->image->instructions.size());
  uint32_t left = quantum;
  do {
    const uint32_t index = w.next->index;
    const bool known = index < count; // else the op that faults behind the last
    if (known) before(w, index);
    step(w);
    if (known) after(w, index);
    --left;
  } while (left && !(w.events & ~event::modal));
  return quantum - left;
}

} // namespace asmevo::machine
