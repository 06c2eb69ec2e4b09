// What registers hold, as affine forms, at every point of a function.
//
// Value numbering over the control-flow graph. A register that is copied, added to or shifted gets the form that
// follows from its sources; what is not understood becomes a symbol that says where the value was made, so that it can
// still be compared with itself. Where paths meet and bring different forms, the register holds a symbol of the meeting
// place. "The latest execution of item i" and "when block b was last reached" are never ambiguous: a form that names i
// can only stand where every path has led through i, so never in a register that is carried into i again.
//
// A register that grows by a constant each time round a loop is its first value plus that constant times the number of
// rounds, a symbol with a known range where the trip count is known.
//
// Vector registers hold their form in the lanes that EXEC selected when they were written. Where other lanes are active
// too, only the register's whole content can be named: "what v3 held after item i". A scalar that was read from the
// first active lane is what it is said to be only if there was one; it carries the mask for the same reason.
//
// Taken for granted: EXEC is not empty when a kernel begins and callees give it back; the kernarg segment is not
// written while the kernel runs; the workgroup is as large as metadata says, and a grid has less than 2^32 work-items
// along an axis (AQL packets have no room for more). In lanes without a work-item nothing is known of the ids.
#pragma once

#include "analysis/affine.h"
#include "analysis/cfg.h"
#include "analysis/lane_masks.h"
#include "analysis/registers.h"

#include <functional>
#include <optional>

namespace asmevo::analysis {

/// A register's content: `form` in the lanes of `lanes`.
struct Held {
  static constexpr FormId whole = 0xffffffff; // no form: the content is named by its origin
  FormId form = whole;
  MaskId lanes = LaneMasks::all;
  uint64_t origin = 0; // 0 when the function begins, 1 + 2 * item or 2 + 2 * block: when the content was last known new
  bool operator==(const Held&) const = default;
};

struct RegisterState {
  std::vector<Held> held; // by RegisterValues::slot
  MaskId exec = LaneMasks::entry;
  bool operator==(const RegisterState&) const = default;
};

class RegisterValues {
public:
  RegisterValues(const recover::Program& program, const recover::Function& function, const Graph& graph);

  /// False where instructions name registers by an index (s_set_gpr_idx_on) or are skipped by a mode: then nothing is.
  bool known() const { return known_; }
  Forms& forms() { return forms_; }
  LaneMasks& masks() { return masks_; }
  const RegisterMap& registers() const { return registers_; }

  /// Calls `visit` for every instruction that an entry reaches, with the state before it.
  void each(const std::function<void(size_t item, const RegisterState&)>& visit);

  /// The form of `unit` in the lanes that are active in `state`.
  FormId active(const RegisterState& state, size_t unit);
  /// The form of a scalar register even where EXEC is empty.
  FormId scalar(const RegisterState& state, size_t unit);
  /// The register's content as a symbol of its origin.
  FormId content(const RegisterState& state, size_t unit);

private:
  friend class Step;
  using States = std::vector<const RegisterState*>;
  /// A register that grows by `step` each round.
  struct Induction {
    uint16_t low = 0, high = 0; // slots; alike where one register counts alone
    uint64_t step = 0;
  };
  struct Meeting {
    std::vector<uint8_t> levels; // by slot
    bool exec_differs = false;
    std::optional<MaskId> around; // every EXEC that arrives
    std::vector<Induction> inductions;
    std::vector<bool> tried;                  // by slot: it is no induction
    std::vector<std::optional<MaskId>> masks; // by slot: every lane mask that arrives in it and the next
    std::vector<bool> no_mask;                // by slot
  };
  static constexpr uint16_t no_slot = 0xffff;

  Held& at(RegisterState& state, size_t unit) { return state.held[slot_[unit]]; }
  Held held(const RegisterState& state, size_t unit) const;
  bool is_carry(FormId form) const;
  FormId mask_form(MaskId mask, uint64_t half);
  std::optional<MaskId> mask_at(const RegisterState& state, size_t unit);
  void number_registers(const recover::Function& function);
  FormId whole(size_t unit, uint64_t origin);
  void transfer(size_t item, RegisterState& state);
  RegisterState through(uint32_t block, RegisterState state);

  States incoming(uint32_t block, bool back_edges) const;
  RegisterState meet(uint32_t block, bool with_back_edges);
  Held meet_one(uint32_t block, uint16_t slot, const States& from, MaskId exec, uint8_t& level);
  void meet_masks(uint32_t block, uint16_t slot, const States& from, RegisterState& state);
  void settle();

  FormId rounds(uint32_t block);
  std::optional<FormId> common(const States& from, const Induction& induction, MaskId exec);
  FormId value(const RegisterState& state, const Induction& induction);
  FormId plus(const Induction& induction, FormId form, uint64_t step);
  bool holds(const RegisterState& state, uint16_t slot, MaskId exec) const;
  bool induct(uint32_t block, const Induction& induction, RegisterState& state, const States& outside,
              const States& latches);
  std::optional<Induction> induction_of(uint32_t block, uint16_t slot);
  bool find_inductions();

  const recover::Program& program_;
  const Graph& graph_;
  int kernel_;
  RegisterMap registers_;
  bool pristine_; // items lie where they lay in K0
  bool known_ = true;
  Forms forms_;
  LaneMasks masks_;
  std::vector<uint16_t> slot_;         // by unit
  std::vector<uint16_t> units_;        // by slot
  std::vector<RegisterState> entries_; // by Graph::entries
  std::vector<uint32_t> order_;
  std::vector<std::optional<RegisterState>> in_, out_; // by block
  std::vector<Meeting> meetings_;                      // by block
  std::vector<std::optional<uint64_t>> trips_;         // by block: of the loop that it heads
  std::vector<std::vector<uint32_t>> latches_;         // by block
};

/// Register contents when a wave begins, by unit; `preloaded` at the second entry of a kernel with kernarg preload.
/// Source: LLVM AMDGPUUsage, "Initial Kernel Execution State".
struct EntryValue {
  size_t unit = 0;
  FormId form = 0;
  MaskId lanes = LaneMasks::all;
};
std::vector<EntryValue> entry_values(const recover::Program& program, const recover::Function& function, bool preloaded,
                                     Forms& forms);

/// The dword of the kernarg segment at byte `offset`, a multiple of 4.
FormId kernarg_dword(const recover::Program& program, int kernel, uint32_t offset, Forms& forms);

} // namespace asmevo::analysis
