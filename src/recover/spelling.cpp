#include "recover/spelling.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace asmevo::recover {

namespace {

constexpr size_t batch = 1024;             // instructions assembled at once
constexpr size_t most_remembered = 400000; // spellings; about 100 bytes each

struct Key {
  uint64_t low, high; // the words
  uint32_t target;    // processor, xnack, sramecc: what the assembler can depend on
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& k) const {
    uint64_t h = k.target;
    for (uint64_t half : {k.low, k.high}) h = (h ^ half) * 0x9e3779b97f4a7c15ull, h ^= h >> 32;
    return h;
  }
};

// Asked for each instruction of each object, so a question should cost one look into memory: keys lie beside one
// another, in the first free slot from where their hash says.
class Memory {
public:
  const Spelling* find(const Key& key) const {
    for (size_t at = KeyHash()(key) & mask();; at = (at + 1) & mask()) {
      if (slots_[at].number == 0) return nullptr;
      if (slots_[at].key == key) return &spellings_[slots_[at].number - 1];
    }
  }
  void keep(const Key& key, const Spelling& spelling) {
    if (find(key)) return;
    if (spellings_.size() >= most_remembered) {
      spellings_.clear();
      slots_.assign(slots_.size(), {});
    }
    if (spellings_.size() * 2 >= slots_.size()) grow();
    spellings_.push_back(spelling);
    place({key, uint32_t(spellings_.size())});
  }
  std::shared_mutex mutex;

private:
  struct Slot {
    Key key{};
    uint32_t number = 0; // of the spelling, from 1; 0 where the slot is free
  };

  size_t mask() const { return slots_.size() - 1; }
  void place(const Slot& slot) {
    size_t at = KeyHash()(slot.key) & mask();
    while (slots_[at].number) at = (at + 1) & mask();
    slots_[at] = slot;
  }
  void grow() {
    std::vector<Slot> before(slots_.size() * 2);
    before.swap(slots_);
    for (const Slot& slot : before)
      if (slot.number) place(slot);
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  std::deque<Spelling> spellings_;
};

Memory& memory() {
  static Memory instance;
  return instance;
}

Key key_of(const isa::Instruction& i, const isa::Target& t) {
  return {i.words[0] | uint64_t{i.words[1]} << 32, i.words[2] | uint64_t{i.words[3]} << 32,
          uint32_t(t.processor) | uint32_t(t.xnack) << 8 | uint32_t(t.sramecc) << 16 | uint32_t(t.generic) << 24};
}

class Checker {
public:
  Checker(const isa::Codec& codec, std::span<const isa::Instruction* const> instructions, std::span<Spelling> spellings)
      : codec_(codec), instructions_(instructions), spellings_(spellings) {}

  // Assembles the texts [first, last) and falls back to words where the result differs.
  void check(size_t first, size_t last) {
    if (first >= last) return;
    std::string text;
    size_t size = 0;
    for (size_t i = first; i < last; i++) {
      text += spellings_[i].text + "\n";
      size += instructions_[i]->size;
    }
    auto bytes = codec_.assemble(text);
    if (bytes && bytes->size() == size) return compare(first, last, *bytes);
    if (last - first == 1) return give_up(first);
    size_t split = (first + last) / 2;
    if (!bytes && bytes.error().line >= 1 && size_t(bytes.error().line) <= last - first) {
      size_t refused = first + bytes.error().line - 1;
      check(refused, refused + 1);
      check(first, refused);
      return check(refused + 1, last);
    }
    check(first, split);
    check(split, last);
  }

private:
  void compare(size_t first, size_t last, const Bytes& bytes) {
    size_t at = 0;
    for (size_t i = first; i < last; at += instructions_[i++]->size)
      if (std::memcmp(bytes.data() + at, instructions_[i]->words.data(), instructions_[i]->size) != 0) give_up(i);
  }
  void give_up(size_t i) { spellings_[i] = {as_words(*instructions_[i]), true}; }

  const isa::Codec& codec_;
  std::span<const isa::Instruction* const> instructions_;
  std::span<Spelling> spellings_;
};

} // namespace

std::string as_words(const isa::Instruction& instruction) {
  std::string text = fmt::format(".long {:#010x}", instruction.words[0]);
  for (int i = 1; i < instruction.size / 4; i++) text += fmt::format(", {:#010x}", instruction.words[i]);
  return text;
}

bool is_proved(const isa::Instruction& instruction, const isa::Target& target, std::string_view text) {
  Memory& known = memory();
  std::shared_lock lock(known.mutex);
  const Spelling* spelling = known.find(key_of(instruction, target));
  return spelling && spelling->text == text;
}

std::vector<Spelling> spell(std::span<const isa::Instruction* const> instructions, const isa::Codec& codec) {
  std::vector<Spelling> result(instructions.size());
  std::vector<const isa::Instruction*> fresh;
  std::unordered_map<Key, size_t, KeyHash> wanted; // distinct unknown ones
  std::vector<std::pair<size_t, size_t>> users;    // (index in result, index in fresh)
  Memory& known = memory();
  {
    std::shared_lock lock(known.mutex);
    for (size_t i = 0; i < instructions.size(); i++) {
      Key key = key_of(*instructions[i], codec.target());
      if (const Spelling* spelling = known.find(key)) {
        result[i] = *spelling;
        continue;
      }
      auto [place, is_new] = wanted.emplace(key, fresh.size());
      if (is_new) fresh.push_back(instructions[i]);
      users.emplace_back(i, place->second);
    }
  }
  if (fresh.empty()) return result;
  std::vector<Spelling> spellings(fresh.size());
  for (size_t i = 0; i < fresh.size(); i++) spellings[i].text = codec.print(*fresh[i]);
  Checker checker(codec, fresh, spellings);
  for (size_t first = 0; first < fresh.size(); first += batch)
    checker.check(first, std::min(first + batch, fresh.size()));
  {
    std::unique_lock lock(known.mutex);
    for (size_t i = 0; i < fresh.size(); i++) known.keep(key_of(*fresh[i], codec.target()), spellings[i]);
  }
  for (auto [to, from] : users) result[to] = spellings[from];
  return result;
}

} // namespace asmevo::recover
