// Memory instructions.
#include "analysis/memory.h"
#include "isa/traits.h"
#include "prove/step.h"

#include <algorithm>

namespace asmevo::prove {

using isa::Encoding;
using isa::Instruction;
namespace fields = isa::fields;
namespace flag = machine::memory_flag;

namespace {

/// What a plain load or store moves.
struct Transfer {
  uint32_t bytes = 0;
  bool is_signed = false;
  enum class Half : uint8_t { none, low, high } half = Half::none;
  bool d16 = false;
};

struct TransferRow {
  std::string_view suffix;
  Transfer transfer;
};

/// By what follows "load_", "store_", "ds_read_" and "ds_write_".
constexpr TransferRow transfers[] = {
    {"dword", {4}},
    {"dwordx2", {8}},
    {"dwordx3", {12}},
    {"dwordx4", {16}},
    {"b32", {4}},
    {"b64", {8}},
    {"b96", {12}},
    {"b128", {16}},
    {"ubyte", {1}},
    {"u8", {1}},
    {"sbyte", {1, true}},
    {"i8", {1, true}},
    {"ushort", {2}},
    {"u16", {2}},
    {"sshort", {2, true}},
    {"i16", {2, true}},
    {"ubyte_d16", {1, false, Transfer::Half::low, true}},
    {"u8_d16", {1, false, Transfer::Half::low, true}},
    {"ubyte_d16_hi", {1, false, Transfer::Half::high, true}},
    {"u8_d16_hi", {1, false, Transfer::Half::high, true}},
    {"sbyte_d16", {1, true, Transfer::Half::low, true}},
    {"i8_d16", {1, true, Transfer::Half::low, true}},
    {"sbyte_d16_hi", {1, true, Transfer::Half::high, true}},
    {"i8_d16_hi", {1, true, Transfer::Half::high, true}},
    {"short_d16", {2, false, Transfer::Half::low, true}},
    {"u16_d16", {2, false, Transfer::Half::low, true}},
    {"short_d16_hi", {2, false, Transfer::Half::high, true}},
    {"u16_d16_hi", {2, false, Transfer::Half::high, true}},
    {"byte", {1}},
    {"b8", {1}},
    {"short", {2}},
    {"b16", {2}},
    {"byte_d16_hi", {1, false, Transfer::Half::high, true}},
    {"b8_d16_hi", {1, false, Transfer::Half::high, true}},
    {"b16_d16_hi", {2, false, Transfer::Half::high, true}},
};

std::optional<Transfer> transfer_of(std::string_view name) {
  constexpr std::string_view starts[] = {"global_load_", "global_store_", "scratch_load_", "scratch_store_", "ds_read_",
                                         "ds_write_",    "buffer_load_",  "buffer_store_", "flat_load_"};
  for (std::string_view start : starts) {
    if (!name.starts_with(start)) continue;
    name.remove_prefix(start.size());
    for (const TransferRow& row : transfers)
      if (row.suffix == name) return row.transfer;
  }
  return std::nullopt;
}

uint64_t distance_mask(const Place& place) {
  return place.space == "global" || place.space == "flat" ? ~uint64_t{0} : 0xffffffff;
}

bool same_base(const Place& a, const Place& b) { return a.space == b.space && a.base == b.base; }

/// Whether two places of one base have no byte in common, counted around the end of the address space.
bool apart(const Place& a, const Place& b) {
  if (a.bytes == 0 || b.bytes == 0) return false;
  const uint64_t around = distance_mask(a);
  return ((b.offset - a.offset) & around) >= a.bytes && ((a.offset - b.offset) & around) >= b.bytes;
}

/// One memory instruction.
struct Access {
  Step& s;
  Terms& terms;
  const machine::Op& op;

  explicit Access(Step& step) : s(step), terms(step.terms), op(step.op) {}

  Id vector(machine::RowRef ref) { return s.in_active_lanes(s.row_value(ref)); }
  Id immediate(uint8_t width) { return terms.constant(width, uint64_t(int64_t{op.imm})); }

  Place with_offset(std::string space, Id address, uint32_t bytes) {
    const auto [base, offset] = terms.split_constant(address);
    return {std::move(space), {base}, offset, bytes};
  }

  Place global_place(uint32_t bytes) {
    Id address = immediate(64);
    if (op.flags & flag::has_saddr) {
      address = terms.add(address, terms.add(s.scalar64(op.ssrc[0]), terms.zero_extend(vector(op.src[0]))));
    } else {
      const Id low = vector(op.src[0]), high = vector(op.src[0].next(1));
      address = terms.add(address, terms.pair(low, high));
    }
    return with_offset("global", address, bytes);
  }

  Place scratch_place(uint32_t bytes) {
    Id address = immediate(32);
    if (op.flags & flag::has_saddr) address = terms.add(address, s.scalar32(op.ssrc[0]));
    if (op.flags & flag::has_vaddr) address = terms.add(address, vector(op.src[0]));
    // Every lane has a memory of its own there, and FLAT_SCRATCH says where.
    Place place = with_offset("scratch", address, bytes);
    for (Id part : {s.shared.lane, s.registers[isa::flat_scratch_lo], s.registers[isa::flat_scratch_lo + 1]})
      place.base.push_back(part);
    return place;
  }

  Place lds_place(uint32_t offset, uint32_t bytes) {
    return with_offset("lds", terms.add(vector(op.src[0]), terms.constant(32, offset)), bytes);
  }

  /// Not a sum: how the parts of a buffer address meet depends on the resource.
  Place buffer_place(uint32_t bytes) {
    Place place{
        fmt::format("buffer {:x}", op.flags & (flag::idxen | flag::offen)), {}, uint64_t(uint32_t(op.imm)), bytes};
    for (uint32_t k = 0; k < 4; ++k) place.base.push_back(s.registers[op.ssrc[0].index() + k]);
    uint32_t part = 0;
    if (op.flags & flag::idxen) place.base.push_back(vector(op.src[0].next(part++)));
    if (op.flags & flag::offen) place.base.push_back(vector(op.src[0].next(part++)));
    place.base.push_back(s.scalar32(op.ssrc[1]));
    return place;
  }

  Id sized(Id word, const Transfer& t) {
    if (t.bytes >= 4) return word;
    const uint32_t bits = 8 * t.bytes;
    if (!t.is_signed) return terms.conjunction(word, terms.constant(32, (1u << bits) - 1));
    const Id amount = terms.constant(32, 32 - bits);
    return terms.shift_arithmetic(terms.shift_left(word, amount), amount);
  }

  void write_loaded(machine::RowRef to, Id word, const Transfer& t) {
    Id value = sized(word, t);
    if (t.d16) {
      const Id old = vector(to);
      const auto number = [&](uint32_t n) { return terms.constant(32, n); };
      if (t.half == Transfer::Half::high)
        value = terms.disjunction(terms.shift_left(value, number(16)), terms.conjunction(old, number(0xffff)));
      else
        value = terms.disjunction(terms.conjunction(value, number(0xffff)), terms.conjunction(old, number(0xffff0000)));
    }
    s.write_row(to, value);
  }

  /// Dwords one after the other: each is an access of its own.
  void load_split(Id memory, Place place, machine::RowRef to, const Transfer& t) {
    const uint32_t bytes = std::min(t.bytes, 4u), rows = std::max(1u, t.bytes / 4);
    const uint64_t start = place.offset;
    std::vector<Id> words;
    for (uint32_t r = 0; r < rows; ++r) {
      place.offset = (start + 4 * r) & distance_mask(place);
      place.bytes = bytes;
      if (place.space == "global") s.note_read(place, s.active);
      words.push_back(s.load_word(memory, place));
    }
    for (uint32_t r = 0; r < rows; ++r) write_loaded(to.next(r), words[r], t);
  }

  std::vector<Id> data(machine::RowRef from, const Transfer& t) {
    std::vector<Id> words;
    for (uint32_t r = 0; r < std::max(1u, t.bytes / 4); ++r) {
      Id word = vector(from.next(r));
      if (t.half == Transfer::Half::high) word = terms.shift_right(word, terms.constant(32, 16));
      if (t.bytes < 4) word = terms.conjunction(word, terms.constant(32, (1u << (8 * t.bytes)) - 1));
      words.push_back(word);
    }
    return words;
  }

  void store_split(Id& memory, Place place, const Transfer& t) {
    const std::vector<Id> words = data(op.src[1], t);
    const uint64_t start = place.offset;
    for (uint32_t r = 0; r < words.size(); ++r) {
      place.offset = (start + 4 * r) & distance_mask(place);
      place.bytes = std::min(t.bytes, 4u);
      memory = s.stored(memory, {place, memory, s.active, {words[r]}, true});
    }
  }

  /// All dwords of a lane at once.
  void load_whole(Id memory, const Place& place, machine::RowRef to, const Transfer& t) {
    if (t.bytes <= 4) return load_split(memory, place, to, t);
    std::vector<Id> arguments = {memory};
    arguments.insert(arguments.end(), place.base.begin(), place.base.end());
    arguments.push_back(terms.constant(64, place.offset));
    const Id tuple = terms.load(fmt::format("{} {}", place.space, place.bytes), arguments, 0);
    for (uint32_t r = 0; r < t.bytes / 4; ++r) s.write_row(to.next(r), terms.pick(tuple, r, 32, false));
  }

  bool aligned(const Place& place) const {
    const uint64_t low = (1u << (place.bytes > 8 ? 4 : place.bytes > 4 ? 3 : 2)) - 1;
    return (terms[place.base[0]].zeros & low) == low && (place.offset & low) == 0;
  }

  void lds_load(uint32_t offset, machine::RowRef to, const Transfer& t, Id memory) {
    const Place place = lds_place(offset, t.bytes);
    // A wide access that is not aligned may lie partly beyond the allocation and is then nothing, not half.
    if (t.bytes <= 4 || aligned(place))
      load_split(memory, place, to, t);
    else
      load_whole(memory, place, to, t);
  }

  void lds_store(uint32_t offset, machine::RowRef from, const Transfer& t) {
    Id& memory = memories().lds;
    memory = s.stored(memory, {lds_place(offset, t.bytes), memory, s.active, data(from, t), false});
  }

  /// FLAT may read any memory, so its loads are functions of all three. Where a wide one is aligned, all its dwords lie
  /// in one.
  void flat_load(const Transfer& t) {
    const Id low = vector(op.src[0]), high = vector(op.src[0].next(1));
    Place place = with_offset("flat", terms.add(immediate(64), terms.pair(low, high)), t.bytes);
    const bool split = t.bytes <= 4 || aligned(place);
    const uint32_t rows = std::max(1u, t.bytes / 4);
    if (split) place.bytes = std::min(t.bytes, 4u);
    const uint64_t start = place.offset;
    const auto read = [&](uint8_t width) {
      std::vector<Id> arguments = {memories().global, memories().lds, memories().scratch};
      arguments.insert(arguments.end(), place.base.begin(), place.base.end());
      arguments.push_back(terms.constant(64, place.offset));
      s.note_read(place, s.active);
      return terms.load(fmt::format("flat {}", place.bytes), arguments, width);
    };
    std::vector<Id> words;
    if (split) {
      for (uint32_t r = 0; r < rows; ++r) {
        place.offset = start + 4 * r;
        words.push_back(read(32));
      }
    } else {
      const Id tuple = read(0);
      for (uint32_t r = 0; r < rows; ++r) words.push_back(terms.pick(tuple, r, 32, false));
    }
    for (uint32_t r = 0; r < rows; ++r) write_loaded(op.dst.next(r), words[r], t);
  }

  Memories& memories() { return s.memories(); }

  Result<void> buffer_access() {
    const analysis::MemoryAccess access = analysis::memory_access(s.i);
    const bool typed = s.i.encoding == Encoding::mtbuf || s.name.find("_format_") != std::string_view::npos;
    const auto transfer = transfer_of(s.name);
    const Place place = buffer_place(typed || !transfer ? 0 : transfer->bytes);
    Id& memory = memories().global;
    if (access.stores) {
      std::vector<Id> words;
      if (transfer) {
        words = data(op.src[1], *transfer);
      } else {
        // A typed store: its components are the explicit vector operand that is no address.
        return s.event(Step::touches_global);
      }
      memory = s.stored(memory, {place, memory, s.active, std::move(words), true});
      return {};
    }
    s.note_read(place, s.active);
    const Id seen = s.seen_by_load(memory, place);
    std::vector<Id> arguments = {seen};
    arguments.insert(arguments.end(), place.base.begin(), place.base.end());
    arguments.push_back(terms.constant(64, place.offset));
    if (isa::keeps_other_half(s.name) || !transfer) shared_old(arguments);
    std::string key = fmt::format("{} {}", place.space, s.name);
    if (s.i.encoding == Encoding::mtbuf) key += fmt::format(" {:x}", op.sdst);
    const Id tuple = terms.load(key, arguments, 0);
    s.write_everything(tuple, 0);
    return {};
  }

  void shared_old(std::vector<Id>& arguments) {
    s.shared.registers.each(s.i.defs, [&](size_t unit) {
      if (s.uses({isa::File::vgpr, static_cast<uint16_t>(unit - analysis::vgpr_unit), 1}) ||
          isa::keeps_other_half(s.name))
        arguments.push_back(s.in_active_lanes(s.registers[unit]));
    });
  }
};

} // namespace

/// The newest memory that a load of `place` cannot tell from `memory`.
Id Step::visible(Id memory, const Place& place) {
  const bool lds = place.space == "lds";
  for (auto record = shared.stores.find(memory); record != shared.stores.end(); record = shared.stores.find(memory)) {
    const bool other_offset = !lds && same_base(record->second.place, place) && apart(record->second.place, place);
    if (!other_offset && !of.passes(memory, of.item_)) break;
    memory = record->second.memory;
  }
  return memory;
}

/// The memory whose contents a vector load sees. A load may stand on the other side of a barrier than the original's:
/// above it where no wave stores before the barrier, below it where none stores until the next one. It then sees what
/// the original's load of the same place sees.
Id Step::seen_by_load(Id memory, const Place& place) {
  memory = visible(memory, place);
  shared.loads_so_far[place].insert(memory);
  const auto original = shared.original_loads.find(place);
  if (original == shared.original_loads.end() || original->second.contains(memory)) return memory;
  for (Id other : original->second) {
    const auto passes = [&](Id above, Id below, auto forbidden) {
      for (Id at = above; at != below;) {
        const auto barrier = shared.barriers.find(at);
        if (barrier == shared.barriers.end() || forbidden(barrier->second)) return false;
        at = visible(barrier->second.memory, place);
      }
      return true;
    };
    if (passes(other, memory, [](const BarrierRecord& b) { return b.stores_before; })) return other;
    if (passes(memory, other, [](const BarrierRecord& b) { return b.stores_behind; })) return other;
  }
  return memory;
}

Id Step::stored(Id memory, StoreRecord record) { return stored(memory, std::move(record), of.item_); }

/// Stores that may trade places have one order, by place.
Id Step::stored(Id memory, StoreRecord record, size_t item) {
  if (const auto below = shared.stores.find(memory); below != shared.stores.end()) {
    const StoreRecord other = below->second;
    const bool other_offset =
        record.movable && other.movable && same_base(other.place, record.place) && apart(other.place, record.place);
    if (record.place < other.place && (other_offset || of.passes(memory, item))) {
      const size_t other_item = of.store_items_[memory];
      StoreRecord again = other;
      again.memory = stored(other.memory, std::move(record), item);
      const Id under = again.memory;
      return stored(under, std::move(again), other_item);
    }
  }
  record.memory = memory;
  std::vector<Id> arguments = {memory, record.guard, terms.constant(64, record.place.offset)};
  arguments.insert(arguments.end(), record.place.base.begin(), record.place.base.end());
  arguments.insert(arguments.end(), record.data.begin(), record.data.end());
  const Id id = terms.store(fmt::format("{} {}", record.place.space, record.place.bytes), arguments);
  shared.stores.emplace(id, std::move(record));
  of.store_items_[id] = item;
  return id;
}

Id Step::load_word(Id memory, const Place& place) {
  const bool vector_global = i.traits.vmem && place.space == "global";
  std::vector<Id> arguments = {vector_global ? seen_by_load(memory, place) : visible(memory, place)};
  arguments.insert(arguments.end(), place.base.begin(), place.base.end());
  arguments.push_back(terms.constant(64, place.offset));
  return terms.load(fmt::format("{} {}", place.space, place.bytes), arguments, 32);
}

void Step::note_read(const Place& place, Id guard) { of.reads_.push_back({place, guard}); }

Result<void> Step::scalar_memory() {
  const bool plain = name.starts_with("s_load_dword"), buffer = name.starts_with("s_buffer_load_dword");
  const fields::Smem smem = fields::smem(i.words);
  if ((!plain && !buffer) || smem.glc) return event(i.traits.side_effects || smem.glc ? touches_all : touches_global);
  const uint32_t dwords = analysis::access_bytes(name) / 4;
  Access access(*this);
  const Id register_offset = op.flags & flag::has_soffset ? scalar32(op.ssrc[1]) : terms.constant(32, 0);
  std::vector<Id> words;
  if (plain) {
    const Id sum = terms.add(terms.add(scalar64(op.ssrc[0]), access.immediate(64)), terms.zero_extend(register_offset));
    Place place = access.with_offset("global", terms.conjunction(sum, terms.constant(64, ~uint64_t{3})), 4);
    const bool constant_memory = shared.kernarg && op.ssrc[0].index() == *shared.kernarg;
    const Id memory = constant_memory ? terms.symbol(0, "kernarg segment", true) : of.memories_.global;
    const uint64_t start = place.offset;
    for (uint32_t k = 0; k < dwords; ++k) {
      place.offset = start + 4 * k;
      note_read(place, path);
      words.push_back(load_word(memory, place));
    }
  } else {
    Place place{"scalar buffer", {}, 0, 4 * dwords};
    for (uint32_t k = 0; k < 4; ++k) place.base.push_back(registers[op.ssrc[0].index() + k]);
    const Id offset = terms.add(access.immediate(32), register_offset);
    const auto [base, constant] = terms.split_constant(terms.conjunction(offset, terms.constant(32, 0xfffffffc)));
    place.base.push_back(base);
    place.offset = constant;
    // Range checks go dword by dword; where the offset is a number, so do we.
    const bool split = terms.is_constant(base);
    if (!split) {
      note_read(place, path);
      std::vector<Id> arguments = {of.memories_.global};
      arguments.insert(arguments.end(), place.base.begin(), place.base.end());
      arguments.push_back(terms.constant(64, place.offset));
      const Id tuple = terms.load(fmt::format("scalar buffer {}", dwords), arguments, 0);
      for (uint32_t k = 0; k < dwords; ++k) words.push_back(terms.pick(tuple, k, 32, true));
    }
    for (uint32_t k = 0; split && k < dwords; ++k) {
      place.offset = constant + 4 * k;
      place.bytes = 4;
      note_read(place, path);
      words.push_back(load_word(of.memories_.global, place));
    }
  }
  for (uint32_t k = 0; k < dwords; ++k) write_scalar(op.sdst + k, 32, words[k]);
  return {};
}

Result<void> Step::vector_memory() {
  const analysis::MemoryAccess access = analysis::memory_access(i);
  using analysis::Space;
  if (access.space == Space::control) return event(touches_all);
  Access memory(*this);
  if (access.space == Space::none && i.encoding == Encoding::ds) {
    // Moves between lanes: ds_bpermute_b32, ds_permute_b32, ds_swizzle_b32. Only active lanes take part.
    if (i.defs.empty()) return {};
    std::vector<Id> arguments = read_everything();
    arguments.push_back(of.exec(registers));
    write_everything(terms.wave(encoding_key(), arguments), 0);
    return {};
  }
  const auto transfer = transfer_of(name);
  const bool plain = !access.atomic && !access.coherent;
  switch (access.space) {
  case Space::lds: {
    if (!plain) return event(touches_lds);
    const bool two = name.starts_with("ds_read2") || name.starts_with("ds_write2");
    if (two) {
      const Transfer each{name.ends_with("b64") ? 8u : 4u};
      const uint32_t step = each.bytes * (name.find("st64") != std::string_view::npos ? 64 : 1);
      const uint32_t first = (uint32_t(op.imm) & 0xff) * step, second = (uint32_t(op.imm) >> 8 & 0xff) * step;
      if (access.stores) {
        memory.lds_store(first, op.src[1], each);
        memory.lds_store(second, op.src[2], each);
        return {};
      }
      // The destination may hold the address: both addresses come first.
      const Registers before = registers;
      memory.lds_load(first, op.dst, each, of.memories_.lds);
      Registers after = registers;
      registers = before;
      memory.lds_load(second, op.dst.next(each.bytes / 4), each, of.memories_.lds);
      for (uint32_t r = 0; r < each.bytes / 4; ++r) registers[unit_of(op.dst.next(r))] = after[unit_of(op.dst.next(r))];
      return {};
    }
    if (!transfer) {
      // Transposing and lane-addressed accesses.
      if (access.stores) return event(touches_lds);
      std::vector<Id> arguments = read_everything();
      arguments.push_back(of.exec(registers));
      arguments.push_back(of.memories_.lds);
      write_everything(terms.wave(encoding_key(), arguments), 0);
      return {};
    }
    if (access.stores)
      memory.lds_store(uint32_t(op.imm), op.src[1], *transfer);
    else
      memory.lds_load(uint32_t(op.imm), op.dst, *transfer, of.memories_.lds);
    return {};
  }
  case Space::global: {
    if (!plain) return event(touches_global);
    if (i.encoding == Encoding::mubuf || i.encoding == Encoding::mtbuf) return memory.buffer_access();
    if (!transfer) return event(touches_global);
    const Place place = memory.global_place(transfer->bytes);
    if (access.stores)
      memory.store_split(of.memories_.global, place, *transfer);
    else
      memory.load_split(of.memories_.global, place, op.dst, *transfer);
    return {};
  }
  case Space::scratch: {
    if (!plain || !transfer) return event(touches_scratch);
    const Place place = memory.scratch_place(transfer->bytes);
    if (access.stores)
      memory.store_split(of.memories_.scratch, place, *transfer);
    else
      memory.load_split(of.memories_.scratch, place, op.dst, *transfer);
    return {};
  }
  case Space::flat:
    if (!plain || !transfer || access.stores) return event(touches_all);
    memory.flat_load(*transfer);
    return {};
  default:
    return event(touches_all); // loads to LDS
  }
}

} // namespace asmevo::prove
