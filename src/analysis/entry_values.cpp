// What registers hold when a wave begins.
#include "analysis/register_values.h"

#include <algorithm>

namespace asmevo::analysis {
namespace {

constexpr uint32_t field(uint32_t word, unsigned low, unsigned count) { return word >> low & ((1u << count) - 1); }

const object::Kernel* kernel_of(const recover::Program& program, int kernel) {
  if (kernel < 0 || !program.origin || static_cast<size_t>(kernel) >= program.origin->kernels.size()) return nullptr;
  return &program.origin->kernels[static_cast<size_t>(kernel)];
}

/// What metadata says of the workgroup's size along one axis.
struct Axis {
  uint32_t most = 1024;          // work-items
  std::optional<uint32_t> exact; // likewise
};

Axis axis_of(const object::Kernel& kernel, unsigned axis) {
  constexpr uint32_t largest = 1024;
  if (!kernel.metadata) return {largest, std::nullopt};
  if (const auto& size = kernel.metadata->reqd_workgroup_size; size && (*size)[axis] > 0 && (*size)[axis] <= largest)
    return {(*size)[axis], (*size)[axis]};
  const uint32_t flat = kernel.metadata->max_flat_workgroup_size;
  return {flat == 0 ? largest : std::min(flat, largest), std::nullopt};
}

FormId work_item(const object::Kernel& kernel, unsigned axis, Forms& forms) {
  // Lanes are counted along x first: rows of whole waves leave y and z the same in each of them.
  const auto row = axis_of(kernel, 0).exact;
  const bool uniform = axis > 0 && row && *row % 64 == 0;
  return forms.symbol({SymbolKind::work_item, axis, 0, {}}, {axis_of(kernel, axis).most - 1, uniform, 0});
}

FormId workgroup(const object::Kernel& kernel, unsigned axis, Forms& forms) {
  const uint64_t most = 0xffffffff / axis_of(kernel, axis).exact.value_or(1);
  return forms.symbol({SymbolKind::workgroup, axis, 0, {}}, {most, true, 0});
}

/// Scalar registers fill up one after the other.
class Filling {
public:
  Filling(std::vector<EntryValue>& values, Forms& forms) : values_(values), forms_(forms) {}
  void skip(unsigned registers) { at_ += registers; }
  void skip_to(unsigned at) { at_ = std::max(at_, at); }
  unsigned at() const { return at_; }
  void put(FormId form) { values_.push_back({at_++, form, LaneMasks::all}); }
  void put_pair(FormId form) {
    put(forms_.lower(form));
    put(forms_.upper(form));
  }

private:
  std::vector<EntryValue>& values_;
  Forms& forms_;
  unsigned at_ = 0;
};

constexpr unsigned user_sgprs = 16;

void put_scalars(const recover::Program& program, int number, const object::Kernel& kernel, bool preloaded,
                 Filling& sgprs, Forms& forms) {
  const uint32_t properties = kernel.descriptor.kernel_code_properties(), rsrc2 = kernel.descriptor.compute_pgm_rsrc2();
  const auto has = [&](unsigned bit) { return (properties >> bit & 1) != 0; };
  if (has(0)) {
    // Flags in the upper half are part of the pair.
    sgprs.put_pair(forms.symbol({SymbolKind::scratch, 0, 0, {}}, {~uint64_t{0}, true, 2}));
    sgprs.skip(2);
  }
  if (has(1)) sgprs.skip(2); // dispatch packet
  if (has(2)) sgprs.skip(2); // queue
  if (has(3)) {
    constexpr uint8_t segment_zeros = 4; // HSA aligns it to 16 bytes at least
    sgprs.put_pair(forms.symbol({SymbolKind::kernarg_segment, 0, 0, {}}, {~uint64_t{0}, true, segment_zeros}));
  }
  if (has(4)) sgprs.skip(2); // dispatch id
  if (has(5)) sgprs.skip(2); // flat scratch
  if (has(6)) sgprs.skip(1); // size of the private segment
  const uint32_t length = kernel.descriptor.kernarg_preload() & 127;
  const auto first = static_cast<uint32_t>(kernel.descriptor.kernarg_preload() >> 7);
  for (uint32_t n = 0; preloaded && n < length && sgprs.at() < user_sgprs; ++n)
    sgprs.put(kernarg_dword(program, number, 4 * (first + n), forms));
  sgprs.skip_to(field(rsrc2, 1, 5));
  for (unsigned axis = 0; axis < 3; ++axis)
    if (field(rsrc2, 7 + axis, 1) != 0) sgprs.put(workgroup(kernel, axis, forms));
}

} // namespace

std::vector<EntryValue> entry_values(const recover::Program& program, const recover::Function& function, bool preloaded,
                                     Forms& forms) {
  std::vector<EntryValue> values;
  const object::Kernel* kernel = kernel_of(program, function.kernel);
  if (!kernel) return values;
  Filling sgprs(values, forms);
  put_scalars(program, function.kernel, *kernel, preloaded, sgprs, forms);
  const uint32_t beyond_x = field(kernel->descriptor.compute_pgm_rsrc2(), 11, 2);
  if (program.target.unified_registers()) { // ten bits each in v0, of those that the descriptor asks for
    FormId packed = work_item(*kernel, 0, forms);
    for (unsigned axis = 1; axis < 3 && axis <= beyond_x; ++axis)
      packed = forms.add(packed, forms.scale(work_item(*kernel, axis, forms), 1u << 10 * axis));
    values.push_back({vgpr_unit, packed, LaneMasks::entry});
    return values;
  }
  for (unsigned axis = 0; axis < 3 && axis <= beyond_x; ++axis)
    values.push_back({vgpr_unit + axis, work_item(*kernel, axis, forms), LaneMasks::entry});
  return values;
}

FormId kernarg_dword(const recover::Program& program, int number, uint32_t offset, Forms& forms) {
  const SymbolFacts word{0xffffffff, true, 0}, pair{~uint64_t{0}, true, 0};
  uint32_t first = offset & ~7u; // without metadata pairs are taken to be as they are aligned
  bool wide = true;
  if (const object::Kernel* kernel = kernel_of(program, number); kernel && kernel->metadata)
    for (const object::KernelArgument& argument : kernel->metadata->args) {
      if (offset < argument.offset || offset - argument.offset >= argument.size) continue;
      if (argument.size == 8 && argument.offset % 4 == 0) first = argument.offset;
      wide = argument.size >= 8 && offset - first < 8;
      break;
    }
  if (!wide) return forms.symbol({SymbolKind::kernarg_word, offset, 0, {}}, word);
  const FormId whole = forms.symbol({SymbolKind::kernarg_pair, first, 0, {}}, pair);
  return offset == first ? forms.lower(whole) : forms.upper(whole);
}

} // namespace asmevo::analysis
