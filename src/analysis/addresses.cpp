#include "analysis/addresses.h"

#include "analysis/reaching.h"
#include "isa/fields.h"

#include <algorithm>
#include <array>

namespace asmevo::analysis {
namespace {

using isa::Encoding;
using isa::Instruction;
namespace fields = isa::fields;

constexpr uint8_t pointer_bits = 48;

int64_t as_signed(uint64_t value, unsigned bits) { return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits); }

const object::KernelMetadata* metadata_of(const recover::Program& program, const recover::Function& function) {
  if (function.kernel < 0 || !program.origin) return nullptr;
  const auto number = static_cast<size_t>(function.kernel);
  if (number >= program.origin->kernels.size() || !program.origin->kernels[number].metadata) return nullptr;
  return &*program.origin->kernels[number].metadata;
}

} // namespace

/// From an instruction and register contents to an address.
class Addresses::Resolver {
public:
  Resolver(RegisterValues& values, const recover::Program& program, const recover::Function& function)
      : values_(values), forms_(values.forms()), program_(program), metadata_(metadata_of(program, function)) {}

  std::optional<Address> resolve(size_t item, const RegisterState& state) {
    const Instruction& i = program_.items[item].instruction;
    Address address{.item = item, .access = memory_access(i)};
    address.space = address.access.space;
    if (address.space == Space::none || address.space == Space::control || address.access.extent_count == 0 ||
        i.traits.relative)
      return std::nullopt;
    state_ = &state;
    if (!find(i, address)) return std::nullopt;
    classify(address);
    return address;
  }

private:
  bool find(const Instruction& i, Address& address) {
    switch (i.encoding) {
    case Encoding::global:
    case Encoding::flat:
      return global(i, address);
    case Encoding::scratch:
      return scratch(i, address);
    case Encoding::ds:
      return lds(i, address);
    case Encoding::mubuf:
      return buffer(i, address);
    case Encoding::smem:
      return scalar(i, address);
    default:
      return false;
    }
  }

  FormId vgpr(unsigned number) {
    return values_.active(*state_, values_.registers().first_of({isa::File::vgpr, static_cast<uint16_t>(number), 1}));
  }
  FormId sgpr(unsigned number) { return values_.active(*state_, number); }

  bool global(const Instruction& i, Address& address) {
    const fields::Flat flat = fields::flat(i.words);
    const bool has_saddr = i.encoding == Encoding::global && flat.has_saddr();
    address.form = has_saddr ? forms_.add64(forms_.pair(sgpr(flat.saddr), sgpr(flat.saddr + 1u)),
                                            forms_.zero_extend(vgpr(flat.addr)))
                             : forms_.pair(vgpr(flat.addr), vgpr(flat.addr + 1u));
    return true;
  }

  bool scratch(const Instruction& i, Address& address) {
    const fields::Flat flat = fields::flat(i.words);
    address.base = BaseKind::scratch;
    address.bits = 32;
    const auto& base = address.access.base;
    if (std::ranges::any_of(base, [](const auto& range) { return range.file == isa::File::vgpr; }))
      address.form = vgpr(flat.addr);
    if (flat.has_saddr()) address.form = forms_.add(address.form, sgpr(flat.saddr));
    return true;
  }

  /// Not those that M0 or the lane's number addresses.
  bool lds(const Instruction& i, Address& address) {
    const std::string_view name = name_of(i);
    const auto says = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
    if (fields::ds(i.words).gds || says("addtid") || says("append") || says("consume")) return false;
    address.base = BaseKind::lds;
    address.bits = 32;
    address.form = vgpr(fields::ds(i.words).addr);
    return true;
  }

  bool scalar(const Instruction& i, Address& address) {
    if (name_of(i).find("scratch") != std::string_view::npos) return false;
    const fields::Smem smem = fields::smem(i.words);
    const bool buffer = name_of(i).find("buffer") != std::string_view::npos;
    const auto read = [&](unsigned number) { return values_.scalar(*state_, number); };
    FormId offset = forms_.constant(0);
    if (smem.soffset_en) offset = read(smem.soffset);
    if (smem.offset_is_sgpr()) offset = read(smem.offset_sgpr());
    const FormId base = forms_.pair(read(smem.sbase), read(smem.sbase + 1u));
    address.form = forms_.add64(base, forms_.zero_extend(offset));
    if (buffer) {
      address.form = offset;
      address.bits = 32;
      const auto origin = base_of_resource(read(smem.sbase), read(smem.sbase + 1u));
      address.origin = origin ? origin->base : base;
      address.named_origin = !origin;
    }
    // The hardware drops the two low bits of the sum.
    const bool aligned = !buffer && forms_.zeros(forms_[address.form]) >= 2 && smem.offset % 4 == 0;
    if (!aligned) address.back = 3;
    return true;
  }

  // ---- buffer resources ----

  struct ResourceBase {
    FormId base;        // modulo 2^48
    uint32_t flags = 0; // bits 31:16 of the second dword
  };

  /// Base and flags, where the second dword is the upper half of a pointer: as it is, or cut to 16 bits and with flags
  /// put in. As it is, it must belong to an argument that metadata calls a pointer, or it may be flags that were
  /// loaded.
  std::optional<ResourceBase> base_of_resource(FormId low, FormId high) {
    const Form& word = forms_[high];
    if (word.terms.size() != 1 || word.terms[0].factor != 1 || (word.constant & 0xffff) != 0) return std::nullopt;
    const Symbol& symbol = forms_.name(word.terms[0].symbol);
    FormId whole = 0;
    bool cut = false;
    if (symbol.kind == SymbolKind::upper) {
      whole = symbol.of[0];
    } else if (symbol.kind == SymbolKind::function && symbol.a == word_function::conjunction &&
               forms_.constant_of(symbol.of[1]) == 0xffff) {
      const auto half = forms_.symbol_of(symbol.of[0]);
      if (!half || forms_.name(*half).kind != SymbolKind::upper) return std::nullopt;
      whole = forms_.name(*half).of[0];
      cut = true;
    }
    if (symbol.kind != SymbolKind::upper && !cut) return std::nullopt;
    if (forms_.lower(whole) != low) return std::nullopt;
    if (!cut && (word.constant != 0 || !pointer_in(forms_[whole]))) return std::nullopt;
    return ResourceBase{whole, static_cast<uint32_t>(word.constant >> 16)};
  }

  bool buffer(const Instruction& i, Address& address) {
    const fields::Mubuf f = fields::mubuf(i.words);
    unsigned part = f.vaddr;
    const FormId index = f.idxen ? vgpr(part++) : forms_.constant(0);
    const FormId offset = f.offen ? vgpr(part) : forms_.constant(0);
    FormId soffset = forms_.constant(0);
    if (f.soffset < 128)
      soffset = sgpr(f.soffset);
    else if (const auto value = constant_operand(i, f.soffset))
      soffset = forms_.constant(*value);
    else
      return false;
    address.access.extents[0].bytes = access_bytes(name_of(i));
    const std::array<FormId, 4> words = {sgpr(f.srsrc), sgpr(f.srsrc + 1u), sgpr(f.srsrc + 2u), sgpr(f.srsrc + 3u)};
    address.bits = 32;
    address.form = offset;
    const auto base = base_of_resource(words[0], words[1]);
    constexpr uint32_t adds_lane = 1u << 23, swizzles = 1u << 15, stride_mask = 0x3fff;
    const auto type = forms_.constant_of(words[3]);
    if (!base || !type || (*type & adds_lane) != 0 || (base->flags & swizzles) != 0) {
      const std::array<FormId, 6> parts = {words[0], words[1], words[2], words[3], soffset, index};
      address.origin = forms_.function(word_function::resource, parts);
      address.named_origin = true;
      if (base && contains(forms_[base->base], SymbolKind::scratch)) address.base = BaseKind::scratch;
      if (scratch_resource(words[0])) address.base = BaseKind::scratch;
      return true;
    }
    const FormId records = forms_.scale64(forms_.zero_extend(index), base->flags & stride_mask);
    address.origin = forms_.add64(forms_.add64(base->base, forms_.zero_extend(soffset)), records);
    // Where no offset field can make the offset wrap, all of it is one sum.
    const FormId wide = forms_.zero_extend(offset), largest = forms_.constant(4095);
    if (forms_.add64(wide, largest) == forms_.zero_extend(forms_.add(offset, largest))) {
      address.form = forms_.add64(*address.origin, wide);
      address.bits = pointer_bits;
      address.origin.reset();
    }
    return true;
  }

  bool contains(const Form& form, SymbolKind kind) const {
    return std::ranges::any_of(form.terms, [&](const Term& term) { return forms_.name(term.symbol).kind == kind; });
  }
  /// The first dword of the resource that a wave begins with, or a sum with it.
  bool scratch_resource(FormId low) const { return contains(forms_[low], SymbolKind::scratch); }

  // ---- bases ----

  const object::KernelArgument* pointer_at(uint64_t offset) const {
    if (!metadata_) return nullptr;
    const auto at = std::ranges::find(metadata_->args, offset, &object::KernelArgument::offset);
    return at != metadata_->args.end() && at->value_kind == "global_buffer" && at->size == 8 ? &*at : nullptr;
  }

  /// The one term of a sum that is a pointer.
  const Term* pointer_in(const Form& form) const {
    const bool declared = metadata_ && !metadata_->args.empty();
    const Term* found = nullptr;
    for (const Term& term : form.terms) {
      const Symbol& symbol = forms_.name(term.symbol);
      if (symbol.kind != SymbolKind::kernarg_pair || term.factor != 1 || (declared && !pointer_at(symbol.a))) continue;
      if (found) return nullptr;
      found = &term;
    }
    return found;
  }

  void classify(Address& address) {
    if (address.base != BaseKind::unknown || (address.named_origin && address.space != Space::scalar)) return;
    const Form& form = forms_[address.origin.value_or(address.form)];
    if (contains(form, SymbolKind::kernarg_segment)) address.base = BaseKind::kernarg_segment;
    if (contains(form, SymbolKind::image) || contains(form, SymbolKind::program_counter))
      address.base = BaseKind::image;
    const Term* pointer = pointer_in(form);
    if (address.base != BaseKind::unknown || !pointer) return;
    address.base = BaseKind::kernarg_pointer;
    address.kernarg = static_cast<uint32_t>(forms_.name(pointer->symbol).a);
    address.is_argument = pointer_at(address.kernarg) != nullptr;
  }

  RegisterValues& values_;
  Forms& forms_;
  const recover::Program& program_;
  const object::KernelMetadata* metadata_;
  const RegisterState* state_ = nullptr;
};

Addresses::Addresses(const recover::Program& program, const recover::Function& function, Graph graph,
                     AliasPolicy policy)
    : graph_(std::move(graph)), first_(function.first), policy_(policy), values_(program, function, graph_) {
  if (!values_.known()) return;
  Resolver resolver(values_, program, function);
  values_.each([&](size_t item, const RegisterState& state) {
    if (auto address = resolver.resolve(item, state)) addresses_.push_back(std::move(*address));
  });
  std::ranges::sort(addresses_, {}, &Address::item);
}

const Address* Addresses::at(size_t item) const {
  const auto found = std::ranges::lower_bound(addresses_, item, {}, &Address::item);
  return found != addresses_.end() && found->item == item ? &*found : nullptr;
}

// ---- relations ----

bool Addresses::comparable(const Address& a, const Address& b, Lanes lanes) const {
  if (graph_.block_of[a.item - first_] != graph_.block_of[b.item - first_]) return false;
  if (a.origin != b.origin || a.named_origin != b.named_origin) return false;
  // Origins that differ between lanes are the same in one lane only.
  if (a.origin && lanes == Lanes::any_lanes && !values_.forms().is_uniform(*a.origin)) return false;
  return (a.bits == 32) == (b.bits == 32) && (a.base == BaseKind::scratch) == (b.base == BaseKind::scratch) &&
         (a.base == BaseKind::lds) == (b.base == BaseKind::lds);
}

/// All that the second's address minus the first's can be, before it is reduced.
std::optional<Interval> Addresses::spread(const Address& a, const Address& b, Lanes lanes) const {
  const Forms& forms = values_.forms();
  const unsigned bits = std::min(a.bits, b.bits);
  if (lanes == Lanes::one_lane) {
    const Form between = forms.reduced(forms.difference(forms[b.form], forms[a.form]), bits);
    return forms.interval(between, bits);
  }
  // What lanes share cancels; what differs between them is counted on both sides.
  std::array<Form, 2> shared;
  Interval varying;
  for (const Address* address : {&a, &b}) {
    const bool second = address == &b;
    Form& part = shared[second];
    Form differing;
    part.constant = forms[address->form].constant;
    for (const Term& term : forms[address->form].terms)
      (forms.facts(term.symbol).uniform ? part : differing).terms.push_back(term);
    const auto reach = forms.interval(forms.reduced(differing, bits), bits);
    if (!reach) return std::nullopt;
    varying.low += second ? reach->low : -reach->high;
    varying.high += second ? reach->high : -reach->low;
  }
  const auto fixed = forms.interval(forms.reduced(forms.difference(shared[1], shared[0]), bits), bits);
  if (!fixed) return std::nullopt;
  return Interval{fixed->low + varying.low, fixed->high + varying.high};
}

Relation Addresses::relation(size_t first, size_t second, Lanes lanes) const {
  const Address *a = at(first), *b = at(second);
  if (!a || !b) return Relation::unknown;
  const bool arguments = a->is_argument && b->is_argument && a->kernarg != b->kernarg;
  if (policy_.arguments_are_distinct && arguments) return Relation::disjoint;
  if (!comparable(*a, *b, lanes)) return Relation::unknown;
  const auto apart = spread(*a, *b, lanes);
  if (!apart) return Relation::unknown;
  const __int128 around = __int128{1} << std::min(a->bits, b->bits);
  bool all_disjoint = true;
  for (uint8_t i = 0; i < a->access.extent_count; ++i)
    for (uint8_t j = 0; j < b->access.extent_count; ++j) {
      const Extent &x = a->access.extents[i], &y = b->access.extents[j];
      if (x.bytes == 0 || y.bytes == 0) return Relation::unknown;
      const __int128 shift = __int128{y.offset} - x.offset;
      const __int128 low = apart->low + shift - b->back, high = apart->high + shift + a->back;
      const bool behind = low >= x.bytes && high <= around - y.bytes,
                 before = high <= -__int128{y.bytes} && low >= x.bytes - around;
      all_disjoint &= behind || before;
    }
  if (all_disjoint) return Relation::disjoint;
  return lanes == Lanes::one_lane && apart->low == apart->high ? Relation::overlapping : Relation::unknown;
}

bool Addresses::may_trade_places(size_t first, size_t second) const {
  const Address *a = at(first), *b = at(second);
  if (!a || !b || !is_plain(a->access) || !is_plain(b->access)) return false;
  const auto meets = [](Space s) { return s == Space::lds || s == Space::flat || s == Space::scalar; };
  const Lanes lanes = meets(a->space) || meets(b->space) ? Lanes::any_lanes : Lanes::one_lane;
  return relation(first, second, lanes) == Relation::disjoint;
}

std::optional<int64_t> Addresses::distance(size_t first, size_t second) const {
  const Address *a = at(first), *b = at(second);
  if (!a || !b || !comparable(*a, *b, Lanes::one_lane)) return std::nullopt;
  const auto apart = spread(*a, *b, Lanes::one_lane);
  if (!apart || apart->low != apart->high) return std::nullopt;
  const int64_t fields = b->access.extents[0].offset - a->access.extents[0].offset;
  return as_signed(static_cast<uint64_t>(apart->low) + static_cast<uint64_t>(fields), std::min(a->bits, b->bits));
}

// ---- lanes ----

namespace {

/// Whether a symbol is the same for work-items that are neighbours along x.
bool same_along_x(const Forms& forms, SymbolId id) {
  const Symbol& symbol = forms.name(id);
  if (forms.facts(id).uniform) return true;
  if (symbol.kind == SymbolKind::work_item) return symbol.a != 0;
  if (symbol.of.empty()) return false;
  return std::ranges::all_of(symbol.of, [&](FormId of) {
    return std::ranges::all_of(forms[of].terms, [&](const Term& term) { return same_along_x(forms, term.symbol); });
  });
}

/// What a sum grows by from one work-item to the next along x.
std::optional<Stride> stride_of(const Forms& forms, const Form& form, unsigned bits) {
  Stride stride;
  for (const Term& term : form.terms) {
    if (same_along_x(forms, term.symbol)) continue;
    const Symbol& symbol = forms.name(term.symbol);
    const int64_t factor = as_signed(term.factor, bits);
    if (symbol.kind == SymbolKind::work_item || symbol.kind == SymbolKind::lane) {
      stride.bytes += factor;
    } else if (symbol.kind == SymbolKind::zero_extended || symbol.kind == SymbolKind::sign_extended) {
      const auto inner = stride_of(forms, forms[symbol.of[0]], 32);
      if (!inner) return std::nullopt;
      stride.bytes += factor * inner->bytes;
      stride.may_wrap = true;
    } else {
      return std::nullopt;
    }
  }
  return stride;
}

} // namespace

std::optional<Stride> Addresses::lane_stride(const Address& address) const {
  const Forms& forms = values_.forms();
  auto stride = stride_of(forms, forms[address.form], address.bits == 32 ? 32 : 64);
  if (!stride || !address.origin) return stride;
  const auto origin = address.named_origin ? std::nullopt : stride_of(forms, forms[*address.origin], 64);
  if (!origin && !forms.is_uniform(*address.origin)) return std::nullopt;
  stride->bytes += origin ? origin->bytes : 0;
  stride->may_wrap |= stride->bytes != 0;
  return stride;
}

uint32_t Addresses::alignment(const Address& address, bool whole) const {
  constexpr unsigned most = 12;
  const Forms& forms = values_.forms();
  unsigned zeros = most;
  for (uint8_t k = 0; k < address.access.extent_count; ++k)
    zeros = std::min(zeros, forms.zeros({static_cast<uint64_t>(address.access.extents[k].offset), {}}));
  for (const FormId part : {address.form, address.origin.value_or(0)}) {
    Form sum = forms[part];
    const auto is_base = [&](const Term& term) {
      const Symbol& symbol = forms.name(term.symbol);
      if (address.base == BaseKind::kernarg_pointer)
        return symbol.kind == SymbolKind::kernarg_pair && symbol.a == address.kernarg;
      return symbol.kind == SymbolKind::kernarg_segment || symbol.kind == SymbolKind::image;
    };
    if (!whole) std::erase_if(sum.terms, is_base);
    zeros = std::min(zeros, forms.zeros(sum));
  }
  return 1u << zeros;
}

bool Addresses::is_uniform(const Address& address) const {
  const Forms& forms = values_.forms();
  return forms.is_uniform(address.form) && (!address.origin || forms.is_uniform(*address.origin));
}

} // namespace asmevo::analysis
