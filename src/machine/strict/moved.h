// Instructions whose registers an index moves.
//
// Under s_set_gpr_idx_on a vector instruction names registers that M0 is added to, and s_movrels and s_movreld do the
// same with scalar registers. Which registers those are is known when the instruction is about to execute. Everything
// in strict mode that asks what an instruction reads and writes asks it of an isa::Instruction; so one whose registers
// are moved is made into another one, which names them directly, once for each index that occurs.
#pragma once

#include "machine/image.h"
#include "machine/wave.h"

#include <map>
#include <optional>

namespace asmevo::machine::strict {

class MovedInstructions {
public:
  explicit MovedInstructions(const Image::Impl& image);

  /// Whether the image has instructions that move without a mode that says so.
  bool any_relative() const { return any_relative_; }
  /// How `w`, about to execute instruction `index`, changes it: its number among the moved ones, which begin behind the
  /// image's; `fresh(instruction)` is called where it is new. Nothing where no register is moved.
  template <class Fresh> std::optional<uint32_t> find(const Wave& w, uint32_t index, Fresh fresh) {
    const std::optional<uint32_t> by = index_of(w, index);
    if (!by) return std::nullopt;
    auto [place, is_new] = known_.try_emplace({index, *by}, uint32_t(originals_.size()));
    if (is_new) {
      originals_.push_back(index);
      fresh(moved(w, index));
    }
    return place->second;
  }
  /// The image's instruction that is executed, moved or not.
  uint32_t original(uint32_t number) const { return originals_[number]; }

private:
  std::optional<uint32_t> index_of(const Wave& w, uint32_t index) const;
  isa::Instruction moved(const Wave& w, uint32_t index) const;

  const Image::Impl& image_;
  std::vector<uint8_t> relative_; // an instruction each: s_movrels or s_movreld
  bool any_relative_ = false;
  std::vector<uint32_t> originals_;                         // by number
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> known_; // by instruction and what moves it
};

} // namespace asmevo::machine::strict
