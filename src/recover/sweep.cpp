#include "recover/sweep.h"

#include <algorithm>
#include <span>
#include <utility>

namespace asmevo::recover {

namespace {

constexpr int32_t untouched = -1, interior = -2, data = -3;
constexpr uint32_t s_nop = 0xbf800000, s_code_end = 0xbf9f0000;

class Sweeper {
public:
  Sweeper(const object::CodeObject& object, const object::Section& section, const isa::Codec& codec)
      : object_(object), section_(section), codec_(codec), bytes_(object.data(section)),
        words_(bytes_.size() / 4, untouched) {}

  bool holds(uint64_t address) const {
    return address >= section_.address && address - section_.address < words_.size() * 4;
  }

  Result<void> follow(uint64_t root) {
    if (root % 4 != section_.address % 4)
      return fail("{}: {:#x}: control arrives between the words of {}", object_.path, root, section_.name);
    work_.push_back((root - section_.address) / 4);
    while (!work_.empty()) {
      size_t word = work_.back();
      work_.pop_back();
      AE_CHECK(run(word));
    }
    return {};
  }

  /// A branch that leaves the section: where to, and what to say where nothing is there.
  struct Exit {
    uint64_t target = 0;
    Error error;
  };
  std::vector<Exit> take_exits() { return std::exchange(exits_, {}); }

  // What control flow did not reach. A run of instructions between two islands starts at each hint inside it.
  void fill(const Landmarks& landmarks) {
    std::vector<bool> hinted = marked(landmarks.hints), ends = marked(landmarks.ends);
    for (uint64_t at : landmarks.data)
      if (holds(at) && words_[(at - section_.address) / 4] == untouched) words_[(at - section_.address) / 4] = data;
    reached_ = result_.instructions.size();
    for (size_t word = 0; word < words_.size();) {
      if (words_[word] != untouched) {
        word++;
        continue;
      }
      if (ends[word])
        words_[word++] = data;
      else
        word += place_unreached(word, hinted);
    }
  }

  /// Of what control flow did not reach, drops branches to no instruction of `sections`.
  void forget_strays(std::span<const Sweeper> sections) {
    for (size_t i = reached_; i < result_.instructions.size(); i++)
      if (leads_nowhere(result_.instructions[i], sections)) forget(result_.instructions[i]);
  }

  /// Appends what this section holds; `start` is where it begins in the code.
  void finish(uint64_t start, Sweep& sweep) {
    std::vector<isa::Instruction>& ordered = sweep.instructions;
    ordered.reserve(ordered.size() + result_.instructions.size());
    for (size_t word = 0; word < words_.size(); word++) {
      if (words_[word] >= 0) {
        isa::Instruction& i = result_.instructions[words_[word]];
        sweep.pieces.push_back({start + word * 4, i.size, int(ordered.size())});
        ordered.push_back(std::move(i));
      } else if (words_[word] != interior) {
        sweep.pieces.push_back({start + word * 4, 4, -1});
      }
    }
    if (uint32_t rest = bytes_.size() % 4) sweep.pieces.push_back({start + bytes_.size() - rest, rest, -1});
  }

private:
  std::vector<bool> marked(std::span<const uint64_t> addresses) const {
    std::vector<bool> marks(words_.size());
    for (uint64_t at : addresses)
      if (holds(at)) marks[(at - section_.address) / 4] = true;
    return marks;
  }

  uint64_t address(size_t word) const { return section_.address + word * 4; }

  isa::Instruction decode(size_t word) const { return codec_.decode(bytes_.subspan(word * 4), address(word)); }

  bool fits(size_t word, const isa::Instruction& i) const {
    for (size_t w = word; w < word + i.size / 4; w++)
      if (words_[w] != untouched) return false;
    return true;
  }

  void place(size_t word, isa::Instruction i) {
    words_[word] = int32_t(result_.instructions.size());
    for (size_t w = word + 1; w < word + i.size / 4; w++) words_[w] = interior;
    result_.instructions.push_back(std::move(i));
  }

  Result<void> run(size_t word) {
    while (word < words_.size() && words_[word] == untouched) {
      isa::Instruction i = decode(word);
      if (i.size == 0 || i.encoding == isa::Encoding::unknown) {
        words_[word] = data;
        return {};
      }
      if (!fits(word, i))
        return fail("{}: {}+{:#x}: the instruction {:#010x} {:#010x} runs into one that a branch reaches", object_.path,
                    section_.name, word * 4, i.words[0], i.words[1]);
      note_target(word, i);
      size_t next = word + i.size / 4;
      bool ends = i.traits.terminator;
      place(word, std::move(i));
      if (ends) return {};
      word = next;
    }
    if (word < words_.size() && words_[word] == interior)
      return fail("{}: {}+{:#x}: control reaches the middle of an instruction (word {:#010x})", object_.path,
                  section_.name, word * 4, value(word));
    return {};
  }

  void note_target(size_t word, const isa::Instruction& i) {
    if (i.branch_target < 0 || i.traits.indirect) return;
    uint64_t target = uint64_t(i.branch_target), offset = target - section_.address;
    if (offset == bytes_.size()) return; // the end of the section can have a label
    if (offset % 4 == 0 && offset / 4 < words_.size()) return work_.push_back(offset / 4);
    std::string message = fmt::format("{}: {}+{:#x}: branch {:#010x} to {:#x}, outside of the code", object_.path,
                                      section_.name, word * 4, i.words[0], target);
    exits_.push_back({target, {std::move(message)}});
  }

  size_t place_unreached(size_t word, const std::vector<bool>& hinted) {
    isa::Instruction i = is_padding(value(word)) ? isa::Instruction{} : decode(word);
    bool usable = i.size != 0 && i.encoding != isa::Encoding::unknown && fits(word, i);
    for (size_t w = word + 1; usable && w < word + i.size / 4; w++) usable = !hinted[w];
    if (!usable) {
      words_[word] = data;
      return 1;
    }
    size_t size = i.size / 4;
    place(word, std::move(i));
    return size;
  }

  // What compilers put behind and between functions; as data it is short to say.
  static bool is_padding(uint32_t word) { return word == 0 || word == s_nop || word == s_code_end; }

  bool leads_nowhere(const isa::Instruction& i, std::span<const Sweeper> sections) const {
    if (i.branch_target < 0 || i.traits.indirect) return false;
    uint64_t target = uint64_t(i.branch_target);
    if (target - section_.address == bytes_.size()) return false;
    auto begins_there = [&](const Sweeper& s) {
      uint64_t offset = target - s.section_.address;
      return s.holds(target) && offset % 4 == 0 && s.words_[offset / 4] != interior;
    };
    return std::ranges::none_of(sections, begins_there);
  }

  void forget(const isa::Instruction& i) {
    size_t word = (i.address - section_.address) / 4;
    for (size_t w = word; w < word + i.size / 4; w++) words_[w] = data;
  }

  uint32_t value(size_t word) const {
    return uint32_t{bytes_[word * 4]} | uint32_t{bytes_[word * 4 + 1]} << 8 | uint32_t{bytes_[word * 4 + 2]} << 16 |
           uint32_t{bytes_[word * 4 + 3]} << 24;
  }

  const object::CodeObject& object_;
  const object::Section& section_;
  const isa::Codec& codec_;
  std::span<const uint8_t> bytes_;
  std::vector<int32_t> words_; // index of the instruction that starts there, or one of the states above
  std::vector<size_t> work_;
  std::vector<Exit> exits_;
  size_t reached_ = 0; // so many of the instructions control flow has found
  Sweep result_;       // instructions alone, as they were found
};

Sweeper* holder(std::vector<Sweeper>& sections, uint64_t address) {
  auto found = std::ranges::find_if(sections, [&](const Sweeper& s) { return s.holds(address); });
  return found == sections.end() ? nullptr : &*found;
}

// Branches from one section into another, until there is nothing new.
Result<void> follow_exits(std::vector<Sweeper>& sections) {
  for (bool more = true; std::exchange(more, false);)
    for (Sweeper& from : sections)
      for (const Sweeper::Exit& exit : from.take_exits()) {
        Sweeper* to = holder(sections, exit.target);
        if (!to) return std::unexpected(exit.error);
        AE_CHECK(to->follow(exit.target));
        more = true;
      }
  return {};
}

} // namespace

Result<Sweep> sweep(const object::CodeObject& object, const object::CodeExtent& code, const Landmarks& landmarks,
                    const isa::Codec& codec) {
  std::vector<Sweeper> sections;
  for (size_t i : code.sections) sections.emplace_back(object, object.sections[i], codec);
  for (uint64_t root : landmarks.roots) {
    Sweeper* section = holder(sections, root);
    if (!section) return fail("{}: {:#x}: control arrives outside of the code", object.path, root);
    AE_CHECK(section->follow(root));
  }
  AE_CHECK(follow_exits(sections));
  for (Sweeper& section : sections) section.fill(landmarks);
  for (Sweeper& section : sections) section.forget_strays(sections);
  Sweep result;
  for (size_t i = 0; i < sections.size(); i++)
    sections[i].finish(object.sections[code.sections[i]].address - code.address, result);
  return result;
}

} // namespace asmevo::recover
