// From bytes to a listing that can be edited.
//
// An object is full of distances: branches, address computations, descriptors, tables. Each distance is true for one
// layout only, so before anything may move, all of them become names. The steps: find the instructions (sweep.h), find
// every place that something refers to, give it a name (the symbol table's own where it has a usable one, .L_<n>
// otherwise), and write items that refer by name. Padding that keeps an entry point aligned becomes an item that pads.
#include "recover/recover.h"

#include "object/code_extent.h"
#include "object/elf.h"
#include "recover/descriptor.h"
#include "recover/names.h"
#include "recover/references.h"
#include "recover/sections.h"
#include "recover/spelling.h"
#include "recover/sweep.h"
#include "recover/symbol_names.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>

namespace asmevo::recover {

namespace {

namespace elf = object::elf;
using object::CodeObject;
using object::Section;
using object::Symbol;

constexpr uint64_t entry_alignment = 256, preload_entry = 256;
constexpr uint32_t s_nop = 0xbf800000;
constexpr uint32_t paddings[] = {s_nop, 0, 0xbf9f0000}; // s_nop 0, zero, s_code_end
constexpr size_t longest_data_line = 8;                 // words
constexpr uint32_t placeholder = 0x7f345678;            // a literal that is no inline constant

bool is_address(const Symbol& s) {
  return s.section != elf::shn_undef && s.section < elf::shn_loreserve && s.type != elf::stt_section &&
         s.type != elf::stt_file;
}

class Recoverer {
public:
  Recoverer(std::shared_ptr<const CodeObject> object, const isa::Codec& codec)
      : object_(*object), codec_(codec), surroundings_(std::make_shared<Surroundings>()) {
    program_.origin = std::move(object);
    program_.target = codec.target();
  }

  Result<Program> run() {
    AE_TRY(code_, object::code_extent(object_));
    surroundings_->code_sections = code_.sections;
    collect_symbols();
    AE_CHECK(collect_relocations());
    AE_CHECK(find_instructions());
    find_pairs();
    collect_references();
    AE_CHECK(name_labels());
    AE_CHECK(name_places());
    name_references();
    mark_alignment();
    write_items();
    find_functions();
    for (const object::Kernel& k : object_.kernels)
      program_.declared.push_back(declared_resources(k.descriptor, program_.target));
    program_.surroundings = std::move(surroundings_);
    return std::move(program_);
  }

private:
  // --- What is there -------------------------------------------------------------------------------------------------

  const Section& section(size_t code_section) const { return object_.sections[code_.sections[code_section]]; }

  // The code section that holds the address or ends there; null where it is in none.
  const Section* code_at(uint64_t address) const {
    auto behind =
        std::ranges::upper_bound(code_.sections, address, {}, [&](size_t i) { return object_.sections[i].address; });
    if (behind == code_.sections.begin()) return nullptr;
    const Section& s = object_.sections[*std::prev(behind)];
    return address - s.address <= s.size ? &s : nullptr;
  }

  bool in_code(uint64_t address) const { return code_at(address) != nullptr; }

  bool starts_section(uint64_t address) const {
    const Section* s = code_at(address);
    return s && s->address == address;
  }

  // "section+offset", for messages.
  std::string spot(uint64_t address) const {
    const Section* s = code_at(address);
    return s ? fmt::format("{}+{:#x}", s->name, address - s->address) : fmt::format("{:#x}", address);
  }

  void collect_symbols() {
    surroundings_->symbol_names = symbol_names(object_);
    for (uint32_t i = 0; i < object_.symbols.size(); i++) {
      const Symbol& s = object_.symbols[i];
      if (is_address(s) && surroundings_->is_code(s.section)) code_symbols_.emplace(s.value, i);
    }
  }

  Result<void> find_instructions() {
    Landmarks known;
    for (const object::Kernel& k : object_.kernels) {
      if (!in_code(k.entry_address))
        return fail("{}: {}: entry at {:#x} is not in the code", object_.path, k.name, k.entry_address);
      known.roots.push_back(k.entry_address);
      if (has_preload(k)) known.roots.push_back(k.entry_address + preload_entry);
    }
    for (auto [address, index] : code_symbols_) {
      const Symbol& symbol = object_.symbols[index];
      const Section& s = object_.sections[symbol.section];
      bool function = symbol.type == elf::stt_func && address - s.address < s.size;
      (function && address % 4 == s.address % 4 ? known.roots : known.hints).push_back(address);
    }
    for (auto [address, relocation] : code_relocations_)
      if (size_of(*relocation) == 8)
        known.data.insert(known.data.end(), {address, address + 4});
      else if (relocation->type != elf::r_rel16) // where a branch begins; otherwise a literal
        known.ends.push_back(address);
    AE_TRY(sweep_, sweep(object_, code_, known, codec_));
    for (const Piece& piece : sweep_.pieces) {
      uint64_t end = boundaries_.empty() ? 0 : end_of_last_;
      if (end != piece.offset) boundaries_.push_back(end);
      boundaries_.push_back(piece.offset);
      end_of_last_ = piece.offset + piece.size;
    }
    boundaries_.push_back(end_of_last_);
    for (const auto& i : sweep_.instructions) instructions_.push_back(&i);
    return collect_code_data();
  }

  // Data among the code that holds addresses.
  Result<void> collect_code_data() {
    for (auto [address, relocation] : code_relocations_) {
      auto behind = std::ranges::upper_bound(sweep_.pieces, address - code_.address, {}, &Piece::offset);
      if (behind == sweep_.pieces.begin() || std::prev(behind)->instruction >= 0) continue;
      auto piece = std::prev(behind);
      bool whole = code_.address + piece->offset == address && piece->size == 4;
      if (size_of(*relocation) == 8)
        whole = whole && behind != sweep_.pieces.end() && behind->instruction < 0 && behind->size == 4;
      if (!whole) return fail("{}: {}: a relocation of data that is no whole word", object_.path, spot(address));
      AE_TRY(uint64_t target, relocation_target(*relocation));
      data_references_.emplace_back(relocation, target);
    }
    return {};
  }

  static uint8_t size_of(const object::Relocation& r) {
    return r.type == elf::r_abs64 || r.type == elf::r_rel64 || r.type == elf::r_relative64 ? 8 : 4;
  }

  static bool has_preload(const object::Kernel& k) { return (k.descriptor.kernarg_preload() & 0x7f) != 0; }

  // --- Who refers to what --------------------------------------------------------------------------------------------

  // A relocation that says a symbol which another object may define; it keeps the name.
  bool by_name(const object::Relocation& r) const {
    const Symbol& symbol = object_.symbols[r.symbol];
    return r.type != elf::r_relative64 && !symbol.name.empty() && symbol.binding != elf::stb_local;
  }

  Result<void> collect_relocations() {
    for (const object::Relocation& r : object_.relocations) {
      const Section& s = object_.sections[r.section];
      if (!(s.flags & elf::shf_alloc) || s.name == ".got" || is_descriptor_entry(r)) continue;
      if (surroundings_->is_code(r.section)) {
        code_relocations_.emplace(r.address, &r);
        continue;
      }
      AE_TRY(uint64_t target, relocation_target(r));
      data_references_.emplace_back(&r, target);
    }
    return {};
  }

  const object::Relocation* relocation_of(const isa::Instruction& i) const {
    auto at = code_relocations_.find(i.address + i.size - 4);
    return at == code_relocations_.end() ? nullptr : at->second;
  }

  void find_pairs() {
    for (size_t i = 0; i < instructions_.size(); i++) {
      if (!is_getpc(*instructions_[i])) continue;
      auto pair = address_pair(instructions_, i);
      const object::Relocation* r = pair ? relocation_of(*instructions_[pair->low]) : nullptr;
      if (r && by_name(*r)) continue;
      if (pair && literal(*instructions_[pair->low]) && (in_code(pair->target) || object_.section_at(pair->target)))
        pairs_.push_back(*pair);
      else
        rigid_at(i, "s_getpc_b64 whose use is not understood");
    }
  }

  void demand(uint64_t address) {
    if (in_code(address)) wanted_.insert(boundary_at(address));
  }

  // The last boundary not behind `address`; references into the middle of something are boundary + distance.
  uint64_t boundary_at(uint64_t address) const {
    auto after = std::ranges::upper_bound(boundaries_, address - code_.address);
    return code_.address + *std::prev(after);
  }

  void collect_references() {
    for (const auto* i : instructions_)
      if (i->branch_target >= 0 && !i->traits.indirect) demand(uint64_t(i->branch_target));
    for (const AddressPair& pair : pairs_) {
      if (!in_code(pair.target)) continue;
      demand(pair.target);
      demand(instructions_[pair.base]->address + 4);
    }
    for (auto [relocation, target] : data_references_)
      if (target != no_target) demand(target);
  }

  static constexpr uint64_t no_target = ~uint64_t{0};

  bool is_descriptor_entry(const object::Relocation& r) const {
    return r.type == elf::r_rel64 && std::ranges::any_of(object_.kernels, [&](const object::Kernel& k) {
             return r.address == k.descriptor_address + 16;
           });
  }

  // The address that a relocation of data refers to, or no_target where only the symbol's name says it.
  Result<uint64_t> relocation_target(const object::Relocation& r) const {
    const Symbol& symbol = object_.symbols[r.symbol];
    switch (r.type) {
    case elf::r_relative64:
      return uint64_t(r.addend);
    case elf::r_abs64:
    case elf::r_abs32:
    case elf::r_rel64:
    case elf::r_rel32:
      return is_address(symbol) || symbol.type == elf::stt_section ? symbol.value + uint64_t(r.addend) : no_target;
    default:
      return fail("{}: {:#x}: relocation type {} in {} is not understood", object_.path, r.address, r.type,
                  object_.sections[r.section].name);
    }
  }

  // --- Names ---------------------------------------------------------------------------------------------------------

  Result<void> name_labels() {
    for (const object::Kernel& k : object_.kernels) {
      if (has_preload(k)) alignment_points_.insert(k.entry_address + preload_entry);
      if ((k.entry_address - code_at(k.entry_address)->address) % entry_alignment == 0)
        alignment_points_.insert(k.entry_address);
      if (!symbol_named(k.entry_address, k.name)) wanted_.insert(k.entry_address);
    }
    for (auto [address, index] : code_symbols_) {
      const std::string& name = name_of(index);
      if (as_written(name).empty())
        return fail("{}: symbol at {:#x} has a name that assembly cannot say", object_.path, address);
      used_names_.insert(name);
    }
    size_t number = 0;
    for (uint64_t address : wanted_) {
      auto [first, last] = code_symbols_.equal_range(address);
      auto usable = std::find_if(first, last, [&](auto& entry) {
        return object_.symbols[entry.second].binding == elf::stb_local && is_operand_name(name_of(entry.second));
      });
      labels_[address] = usable != last ? name_of(usable->second) : fresh_name(number);
    }
    name_function_ends();
    return {};
  }

  void name_function_ends() {
    for (auto [address, index] : code_symbols_) {
      const Symbol& s = object_.symbols[index];
      uint64_t end = address + s.size;
      const Section& section = object_.sections[s.section];
      if (s.size == 0 || end - section.address > section.size || boundary_at(end) != end || starts_section(end))
        continue;
      auto [label, fresh] = labels_.try_emplace(end);
      if (fresh) label->second = fmt::format(".Lfunc_end{}", surroundings_->ends.size());
      surroundings_->ends.push_back({index, label->second});
    }
  }

  const std::string& name_of(uint32_t symbol) const { return surroundings_->symbol_names[symbol]; }
  const std::string& name_of(const Symbol& symbol) const { return name_of(uint32_t(&symbol - object_.symbols.data())); }

  bool symbol_named(uint64_t address, const std::string& name) const {
    auto [first, last] = code_symbols_.equal_range(address);
    return std::any_of(first, last, [&](auto& entry) { return object_.symbols[entry.second].name == name; });
  }

  std::string fresh_name(size_t& number) {
    std::string name;
    do name = fmt::format(".L_{}", number++);
    while (used_names_.contains(name));
    return name;
  }

  // "label" or "label+distance" for an address in the code.
  std::string code_name(uint64_t address) const {
    uint64_t boundary = boundary_at(address);
    const std::string& label = labels_.at(boundary);
    return boundary == address ? label : fmt::format("{}+{}", label, address - boundary);
  }

  // Places in other sections: the symbol's name where the linker may bind it here, a name of our own otherwise.
  Result<void> name_places() {
    std::set<uint64_t> places;
    for (const AddressPair& pair : pairs_)
      if (!in_code(pair.target) && !got_symbol(pair.target)) places.insert(pair.target);
    for (auto [relocation, target] : data_references_)
      if (target != no_target && !in_code(target) && !by_name(*relocation)) places.insert(target);
    for (uint64_t address : places) {
      const Section* section = object_.section_at(address);
      if (!section) return fail("{}: something refers to {:#x}, which is in no section", object_.path, address);
      auto named = std::ranges::find_if(object_.symbols, [&](const Symbol& s) {
        return is_address(s) && s.value == address && is_operand_name(name_of(s)) &&
               (s.binding == elf::stb_local || s.visibility != elf::stv_default);
      });
      if (named != object_.symbols.end()) {
        place_names_[address] = name_of(*named);
        continue;
      }
      place_names_[address] = fmt::format(".L_data_{}", surroundings_->places.size());
      surroundings_->places.push_back({address, place_names_[address]});
    }
    return {};
  }

  // The symbol whose address the slot of .got at `address` holds.
  const Symbol* got_symbol(uint64_t address) const {
    const Section* section = object_.section_at(address);
    if (!section || section->name != ".got") return nullptr;
    for (const object::Relocation& r : object_.relocations)
      if (r.address == address && r.type == elf::r_abs64) return &object_.symbols[r.symbol];
    return nullptr;
  }

  void name_references() {
    for (auto [r, target] : data_references_) {
      Surroundings::Reference reference{.address = r->address};
      if (by_name(*r)) {
        reference.expression = fmt::format("{}+{}", as_written(object_.symbols[r->symbol].name), r->addend);
      } else if (target == no_target) {
        continue;
      } else if (in_code(target)) {
        reference.label = labels_.at(boundary_at(target));
        reference.expression = code_name(target);
      } else {
        reference.expression = place_names_.at(target);
      }
      if (r->type == elf::r_rel64 || r->type == elf::r_rel32) reference.expression += "-.";
      reference.size = size_of(*r);
      if (surroundings_->is_code(r->section))
        code_data_.emplace(r->address, std::move(reference));
      else
        surroundings_->references.push_back(std::move(reference));
    }
    std::ranges::sort(surroundings_->references, {}, &Surroundings::Reference::address);
  }

  // --- Items ---------------------------------------------------------------------------------------------------------

  uint32_t word_at(uint64_t offset) const {
    uint32_t word;
    std::memcpy(&word, code_.bytes.data() + offset, 4);
    return word;
  }

  // For each alignment point, the run of equal words before it that `.p2alignl 8` would write again.
  void mark_alignment() {
    for (uint64_t address : alignment_points_) {
      uint64_t offset = address - code_.address, begin = offset;
      const Section* s = code_at(address);
      if (!s || address == s->address || address - s->address == s->size) continue;
      uint32_t fill = word_at(offset - 4);
      if (std::ranges::find(paddings, fill) == std::end(paddings)) fill = s_nop;
      while (!starts_section(code_.address + begin) && offset - (begin - 4) < entry_alignment &&
             word_at(begin - 4) == fill && std::ranges::binary_search(boundaries_, begin - 4) &&
             (begin == offset || !has_label(code_.address + begin)))
        begin -= 4;
      padding_[begin] = {offset, fill};
    }
  }

  bool has_label(uint64_t address) const { return labels_.contains(address) || code_symbols_.contains(address); }

  void write_items() {
    auto spellings = spell(instructions_, codec_);
    mark_symbolic();
    program_.items.reserve(sweep_.pieces.size() + labels_.size() + code_symbols_.size());
    size_t piece = 0;
    for (size_t k = 0; k < code_.sections.size(); k++) {
      const Section& s = section(k);
      if (k) write_section(s);
      uint64_t end = s.address + s.size;
      while (piece < sweep_.pieces.size() && code_.address + sweep_.pieces[piece].offset < end)
        piece = write_piece(piece, spellings);
      if (!starts_section(end)) write_labels(end);
    }
  }

  void write_section(const Section& s) {
    item(ItemKind::section,
         fmt::format("{}\n\t.p2align {}", section_directive(object_, s).substr(1), std::bit_width(s.alignment | 1) - 1),
         s.address);
  }

  // Writes what is at `piece` and before it; the next piece to write.
  size_t write_piece(size_t piece, std::vector<Spelling>& spellings) {
    const Piece& p = sweep_.pieces[piece];
    auto pad = padding_.find(p.offset);
    bool pads_nothing = pad != padding_.end() && pad->second.first == p.offset;
    // Where there is no padding yet, labels stand at what is aligned; otherwise at the end of what lies before.
    if (!pads_nothing) write_labels(code_.address + p.offset);
    if (pad != padding_.end()) {
      auto [end, fill] = pad->second;
      item(ItemKind::align, fmt::format(".p2alignl 8, {}", fill), code_.address + p.offset);
      while (piece < sweep_.pieces.size() && sweep_.pieces[piece].offset < end) piece++;
      if (!pads_nothing) return piece;
      write_labels(code_.address + p.offset);
    }
    if (p.instruction < 0) return write_data(piece);
    write_instruction(p, std::move(spellings[p.instruction]));
    return piece + 1;
  }

  Item& item(ItemKind kind, std::string text, uint64_t address) {
    program_.items.push_back({.kind = kind, .text = std::move(text), .origin = int64_t(address)});
    return program_.items.back();
  }

  void write_labels(uint64_t address) {
    auto [first, last] = code_symbols_.equal_range(address);
    for (auto entry = first; entry != last; ++entry)
      if (written_.insert(name_of(entry->second)).second) item(ItemKind::label, name_of(entry->second), address);
    auto own = labels_.find(address);
    if (own != labels_.end() && written_.insert(own->second).second) item(ItemKind::label, own->second, address);
  }

  size_t write_data(size_t piece) {
    const Piece& p = sweep_.pieces[piece];
    uint64_t begin = p.offset;
    if (p.size < 4) {
      std::string text = ".byte ";
      for (uint64_t at = begin; at < begin + p.size; at++)
        text += fmt::format("{}{:#04x}", at == begin ? "" : ", ", code_.bytes[at]);
      item(ItemKind::data, text, code_.address + begin).data_size = p.size;
      return piece + 1;
    }
    if (auto address = code_data_.find(code_.address + begin); address != code_data_.end())
      return write_address(piece, address->second);
    std::string text = fmt::format(".long {:#010x}", word_at(begin));
    uint32_t words = 1;
    for (piece++; piece < sweep_.pieces.size() && words < longest_data_line; piece++, words++) {
      const Piece& next = sweep_.pieces[piece];
      if (next.instruction >= 0 || next.size != 4 || next.offset != begin + words * 4 ||
          has_label(code_.address + next.offset) || padding_.contains(next.offset) ||
          code_data_.contains(code_.address + next.offset))
        break;
      text += fmt::format(", {:#010x}", word_at(next.offset));
    }
    item(ItemKind::data, text, code_.address + begin).data_size = words * 4;
    return piece;
  }

  size_t write_address(size_t piece, const Surroundings::Reference& reference) {
    Item& i = item(ItemKind::data, fmt::format(".{} {}", reference.size == 8 ? "quad" : "long", reference.expression),
                   int64_t(reference.address));
    i.data_size = reference.size;
    i.target = reference.label;
    return piece + reference.size / 4;
  }

  // The last to look at the decoded instruction's registers: they go into the item.
  void write_instruction(const Piece& p, Spelling spelling) {
    isa::Instruction& decoded = sweep_.instructions[p.instruction];
    Item& i = item(ItemKind::instruction, std::move(spelling.text), decoded.address);
    i.raw = spelling.raw;
    if (decoded.branch_target >= 0 && !decoded.traits.indirect) {
      i.target = labels_.at(boundary_at(uint64_t(decoded.branch_target)));
      if (!i.raw)
        i.text = i.text.substr(0, i.text.rfind(' ') + 1) + i.target;
      else
        rigid_at(size_t(p.instruction), "a branch that only raw words spell");
    }
    if (auto symbolic = symbolic_.find(size_t(p.instruction)); symbolic != symbolic_.end()) {
      i.text = with_symbol(decoded, symbolic->second.expression);
      i.target = symbolic->second.label;
      i.raw = false;
    }
    i.instruction = std::move(decoded);
  }

  // A small literal would print like an inline constant, so a large one stands in for it.
  std::string with_symbol(isa::Instruction i, const std::string& expression) const {
    i.words[i.size / 4 - 1] = placeholder;
    return with_literal(codec_.print(i), placeholder, expression);
  }

  // --- Literals that are distances -----------------------------------------------------------------------------------

  struct Symbolic {
    std::string expression, label;
  };

  void mark_symbolic() {
    for (const AddressPair& pair : pairs_) {
      mark_literal(pair, pair.low, "&4294967295", "lo");
      if (literal(*instructions_[pair.high])) mark_literal(pair, pair.high, ">>32", "hi");
    }
    for (size_t i = 0; i < instructions_.size(); i++) {
      const auto* r = relocation_of(*instructions_[i]);
      if (r && !symbolic_.contains(i) && literal(*instructions_[i])) mark_relocation(i, *r);
    }
  }

  void mark_literal(const AddressPair& pair, size_t index, std::string_view part, std::string_view half) {
    uint64_t base = instructions_[pair.base]->address + 4;
    uint64_t literal_at = instructions_[index]->address + instructions_[index]->size - 4;
    if (in_code(pair.target) && code_at(pair.target) != code_at(base)) return mark_distance(pair, index, half);
    if (in_code(pair.target)) {
      std::string target = code_name(pair.target), from = labels_.at(base);
      if (pair.subtracts) std::swap(target, from);
      symbolic_[index] = {fmt::format("({}-{}){}", target, from, part), labels_.at(boundary_at(pair.target))};
      return;
    }
    if (pair.subtracts) return rigid_at(index, "an address computed by subtraction from another section");
    if (const Symbol* symbol = got_symbol(pair.target))
      symbolic_[index] = {fmt::format("{}@gotpcrel32@{}+{}", symbol->name, half, literal_at - base), symbol->name};
    else
      symbolic_[index] = {fmt::format("{}@rel32@{}+{}", place_names_.at(pair.target), half, literal_at - base),
                          place_names_.at(pair.target)};
  }

  // To another section with code: the linker says how far that is.
  void mark_distance(const AddressPair& pair, size_t index, std::string_view half) {
    uint64_t target = boundary_at(pair.target);
    if (pair.subtracts || target != pair.target)
      return rigid_at(index, "a computed address in another section that is not understood");
    uint64_t base = instructions_[pair.base]->address + 4;
    uint64_t literal_at = instructions_[index]->address + instructions_[index]->size - 4;
    const std::string& label = labels_.at(target);
    symbolic_[index] = {fmt::format("{}@rel32@{}+{}", label, half, literal_at - base), label};
  }

  void rigid_at(size_t index, std::string_view why) {
    if (program_.rigid.empty()) program_.rigid = fmt::format("{}: {}", spot(instructions_[index]->address), why);
  }

  // Relocatable objects keep the reference by name: to what the object does not define, or to an absolute address.
  void mark_relocation(size_t index, const object::Relocation& r) {
    static const std::map<uint32_t, std::string_view> suffixes = {{elf::r_abs32_lo, "@abs32@lo"},
                                                                  {elf::r_abs32_hi, "@abs32@hi"},
                                                                  {elf::r_gotpcrel, "@gotpcrel"},
                                                                  {elf::r_gotpcrel32_lo, "@gotpcrel32@lo"},
                                                                  {elf::r_gotpcrel32_hi, "@gotpcrel32@hi"},
                                                                  {elf::r_rel32_lo, "@rel32@lo"},
                                                                  {elf::r_rel32_hi, "@rel32@hi"}};
    auto suffix = suffixes.find(r.type);
    const std::string& name = object_.symbols[r.symbol].name;
    if (suffix == suffixes.end() || !is_plain_name(name)) return rigid_at(index, "a relocation that has no text");
    symbolic_[index] = {fmt::format("{}{}+{}", name, suffix->second, r.addend), name};
  }

  // --- Functions -----------------------------------------------------------------------------------------------------

  void find_functions() {
    std::map<uint64_t, std::pair<std::string, uint64_t>> starts; // address: name, size
    for (auto [address, index] : code_symbols_)
      if (object_.symbols[index].type == elf::stt_func)
        starts.emplace(address, std::pair(object_.symbols[index].name, object_.symbols[index].size));
    for (const object::Kernel& k : object_.kernels) starts.emplace(k.entry_address, std::pair(k.name, k.code_size));
    for (auto start = starts.begin(); start != starts.end(); ++start) {
      const Section* section = code_at(start->first);
      if (!section) continue;
      uint64_t limit = section->address + section->size;
      if (std::next(start) != starts.end()) limit = std::min(limit, std::next(start)->first);
      uint64_t end = start->second.second ? std::min(start->first + start->second.second, limit) : limit;
      Function f{.name = start->second.first, .first = item_at(start->first), .last = item_at(end)};
      if (f.last > f.first && program_.items[f.last - 1].kind == ItemKind::align && end == limit) f.last--;
      bool kernel = false;
      for (size_t k = 0; k < object_.kernels.size(); k++) {
        if (object_.kernels[k].entry_address != start->first) continue;
        f.name = object_.kernels[k].name;
        f.kernel = int(k);
        program_.functions.push_back(f);
        kernel = true;
      }
      if (!kernel) program_.functions.push_back(f);
    }
  }

  // The first item at or behind `address`; items are in address order.
  size_t item_at(uint64_t address) const {
    auto place = std::ranges::lower_bound(program_.items, int64_t(address), {}, &Item::origin);
    // An align item of no size stands at the same address as what it aligns, a section item as what it begins.
    while (place != program_.items.end() && (place->kind == ItemKind::align || place->kind == ItemKind::section) &&
           place->origin == int64_t(address) && std::next(place) != program_.items.end() &&
           std::next(place)->origin == place->origin)
      ++place;
    return size_t(place - program_.items.begin());
  }

  const CodeObject& object_;
  const isa::Codec& codec_;
  std::shared_ptr<Surroundings> surroundings_;
  Program program_;
  object::CodeExtent code_;
  std::multimap<uint64_t, uint32_t> code_symbols_; // address: index of symbol
  Sweep sweep_;
  std::vector<const isa::Instruction*> instructions_;
  std::vector<uint64_t> boundaries_; // offsets where a piece starts, and where a section ends
  uint64_t end_of_last_ = 0;
  std::vector<AddressPair> pairs_;
  std::map<uint64_t, const object::Relocation*> code_relocations_;
  std::map<uint64_t, Surroundings::Reference> code_data_;
  std::vector<std::pair<const object::Relocation*, uint64_t>> data_references_;
  std::set<uint64_t> wanted_, alignment_points_;
  std::map<uint64_t, std::string> labels_, place_names_;
  std::map<uint64_t, std::pair<uint64_t, uint32_t>> padding_; // offset: end, word
  std::map<size_t, Symbolic> symbolic_;
  std::set<std::string> used_names_, written_;
};

} // namespace

Result<Program> recover(std::shared_ptr<const object::CodeObject> object, const isa::Codec& codec) {
  return Recoverer(std::move(object), codec).run();
}

} // namespace asmevo::recover
