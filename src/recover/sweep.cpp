#include "recover/sweep.h"

#include <algorithm>

namespace asmevo::recover {

namespace {

constexpr int32_t untouched = -1, interior = -2, data = -3;
constexpr uint32_t s_nop = 0xbf800000, s_code_end = 0xbf9f0000;

class Sweeper {
public:
  Sweeper(const object::CodeObject& object, const object::Section& section, const isa::Codec& codec)
      : object_(object), section_(section), codec_(codec), bytes_(object.data(section)),
        words_(bytes_.size() / 4, untouched) {}

  Result<void> follow(std::span<const uint64_t> roots) {
    for (uint64_t root : roots) {
      if (root < section_.address || root - section_.address >= bytes_.size() || root % 4 != section_.address % 4)
        return fail("{}: {:#x}: control arrives outside of the words of {}", object_.path, root, section_.name);
      work_.push_back((root - section_.address) / 4);
    }
    while (!work_.empty()) {
      size_t word = work_.back();
      work_.pop_back();
      AE_CHECK(run(word));
    }
    return {};
  }

  // What control flow did not reach. A run of instructions between two islands starts at each hint inside it.
  void fill(std::span<const uint64_t> hints) {
    std::vector<bool> hinted(words_.size());
    for (uint64_t hint : hints)
      if (hint >= section_.address && hint - section_.address < words_.size() * 4)
        hinted[(hint - section_.address) / 4] = true;
    size_t first = result_.instructions.size();
    for (size_t word = 0; word < words_.size();) {
      if (words_[word] != untouched) {
        word++;
        continue;
      }
      word += place_unreached(word, hinted);
    }
    for (size_t i = first; i < result_.instructions.size(); i++)
      if (leads_nowhere(result_.instructions[i])) forget(result_.instructions[i]);
  }

  Sweep finish() {
    std::vector<isa::Instruction> ordered;
    ordered.reserve(result_.instructions.size());
    for (size_t word = 0; word < words_.size(); word++) {
      if (words_[word] >= 0) {
        isa::Instruction& i = result_.instructions[words_[word]];
        result_.pieces.push_back({word * 4, i.size, int(ordered.size())});
        ordered.push_back(std::move(i));
      } else if (words_[word] != interior) {
        result_.pieces.push_back({word * 4, 4, -1});
      }
    }
    if (uint32_t rest = bytes_.size() % 4) result_.pieces.push_back({bytes_.size() - rest, rest, -1});
    result_.instructions = std::move(ordered);
    return std::move(result_);
  }

private:
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
      AE_CHECK(note_target(word, i));
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

  Result<void> note_target(size_t word, const isa::Instruction& i) {
    if (i.branch_target < 0 || i.traits.indirect) return {};
    uint64_t offset = uint64_t(i.branch_target) - section_.address;
    if (offset == bytes_.size()) return {}; // the end of the section can have a label
    if (offset > bytes_.size() || offset % 4 || offset / 4 >= words_.size())
      return fail("{}: {}+{:#x}: branch {:#010x} to {:#x}, outside of the section", object_.path, section_.name,
                  word * 4, i.words[0], uint64_t(i.branch_target));
    work_.push_back(offset / 4);
    return {};
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

  bool leads_nowhere(const isa::Instruction& i) const {
    if (i.branch_target < 0 || i.traits.indirect) return false;
    uint64_t offset = uint64_t(i.branch_target) - section_.address;
    if (offset == bytes_.size()) return false;
    return offset > bytes_.size() || offset % 4 || offset / 4 >= words_.size() || words_[offset / 4] == interior;
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
  Sweep result_;
};

} // namespace

Result<Sweep> sweep(const object::CodeObject& object, const object::Section& code, std::span<const uint64_t> roots,
                    std::span<const uint64_t> hints, const isa::Codec& codec) {
  Sweeper sweeper(object, code, codec);
  AE_CHECK(sweeper.follow(roots));
  sweeper.fill(hints);
  return sweeper.finish();
}

} // namespace asmevo::recover
