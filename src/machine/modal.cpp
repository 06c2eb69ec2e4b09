#include "machine/modal.h"

#include "machine/workgroup.h"

#include <algorithm>

namespace asmevo::machine {

namespace {

/// A copy of an op whose operands can be moved.
struct Movable {
  Op op;
  Stage stage;

  explicit Movable(const Op& from) : op(from) {
    if (!from.stage) return;
    stage = *from.stage;
    op.stage = &stage;
  }
  RowRef& source(unsigned k) { return op.stage && stage.source[k].rows ? stage.source[k].from : op.src[k]; }
  RowRef& destination() { return op.stage && stage.result.redirected ? stage.result.to : op.dst; }
};

bool is_vgpr(RowRef ref) { return ref.space() == RowSpace::vgpr; }

void run_indexed(Wave& w, const Op& from, const isa::Instruction& instruction) {
  Movable moved(from);
  const auto [index, enables] = gpr_index(w);
  for (unsigned k = 0; k < 3; ++k) {
    RowRef& source = moved.source(k);
    if (!(enables >> k & 1) || !is_vgpr(source)) continue;
    const uint32_t at = source.row() + index;
    source = RowRef::of(RowSpace::vgpr, at < w.vgpr_rows ? at : 0);
  }
  RowRef& destination = moved.destination();
  const bool writes_rows = std::ranges::any_of(instruction.defs, [](auto& d) { return d.file == isa::File::vgpr; });
  if (enables & 8 && writes_rows && is_vgpr(destination)) {
    destination = destination.next(index);
    if (destination.row() >= w.vgpr_rows) return;
  }
  moved.op.run(w, moved.op);
}

} // namespace

NamedRows named_rows(const Op& op) {
  Movable operands(op);
  return {{operands.source(0), operands.source(1), operands.source(2)}, operands.destination()};
}

void step_modal(Wave& w) {
  const Op& op = *w.next++;
  const auto& instructions = w.workgroup->image->instructions;
  if (op.index >= instructions.size()) return op.run(w, op);
  const isa::Instruction& instruction = instructions[op.index];
  const isa::Traits& traits = instruction.traits;
  if (w.mode & mode::vskip && (traits.valu || traits.vmem || traits.lds)) return;
  if (w.mode & mode::gpr_idx_en && traits.valu) return run_indexed(w, op, instruction);
  op.run(w, op);
}

void run_out_of_range(Wave& w, const Op& op) {
  const Image::Impl& image = *w.workgroup->image;
  const isa::Instruction& instruction = image.instructions[op.index];
  auto outside = [&](isa::File file, uint32_t end) {
    return (file == isa::File::vgpr && end > w.vgpr_rows) || (file == isa::File::agpr && end > w.agpr_rows);
  };
  for (const auto& range : instruction.defs)
    if (outside(range.file, uint32_t(range.first) + range.count)) return;
  Movable moved(image.ops[op.index]);
  for (unsigned k = 0; k < 3; ++k) {
    RowRef& source = moved.source(k);
    for (const auto& range : instruction.uses) {
      const auto space = range.file == isa::File::agpr ? RowSpace::agpr : RowSpace::vgpr;
      if (outside(range.file, uint32_t(range.first) + range.count) && source.space() == space &&
          source.row() == range.first)
        source = RowRef::of(RowSpace::vgpr, 0);
    }
  }
  moved.op.run(w, moved.op);
}

} // namespace asmevo::machine
