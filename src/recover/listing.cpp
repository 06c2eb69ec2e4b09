// A Program as text.
//
// The text must say everything that the loader and the host see, in words that a stock assembler takes: one assembler
// call, and a link for shared objects, gives the object again. What only the linker knows (addresses, hash tables, the
// dynamic section) is not written.
#include "recover/recover.h"

#include "object/elf.h"
#include "object/metadata.h"
#include "recover/descriptor.h"
#include "recover/listing.h"
#include "recover/metadata_text.h"
#include "recover/names.h"
#include "recover/sections.h"
#include "recover/spelling.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <map>

namespace asmevo::recover {

namespace {

namespace elf = object::elf;
using object::Section;
using object::Symbol;

std::string hex_bytes(std::span<const uint8_t> bytes) {
  std::string text;
  size_t i = 0;
  while (i < bytes.size()) {
    text += "\t.byte ";
    for (size_t end = std::min(i + 16, bytes.size()); i < end; i++)
      text += fmt::format("{:#04x}{}", bytes[i], i + 1 == end ? "\n" : ",");
  }
  return text;
}

const std::string note_section = ".note";

// The bytes of data that says nothing but numbers; empty where it says more.
Bytes plain_data(std::string_view text) {
  Bytes bytes;
  size_t size = text.starts_with(".long ") ? 4 : text.starts_with(".byte ") ? 1 : 0;
  if (size == 0) return {};
  for (size_t at = 5; at != std::string_view::npos; at = text.find(',', at)) {
    std::string_view number = text.substr(at + 1);
    number.remove_prefix(std::min(number.find_first_not_of(' '), number.size()));
    if (!number.starts_with("0x")) return {};
    uint32_t value = 0;
    auto [end, error] = std::from_chars(number.data() + 2, number.data() + number.size(), value, 16);
    if (error != std::errc() || (end != number.data() + number.size() && *end != ',')) return {};
    for (size_t i = 0; i < size; i++) bytes.push_back(uint8_t(value >> (8 * i)));
    at++;
  }
  return bytes;
}

// Where an alignment directive leads from `offset`; nothing where it is not of the form that recover() writes.
std::optional<uint64_t> aligned(uint64_t offset, std::string_view text) {
  constexpr std::string_view directive = ".p2alignl ";
  if (!text.starts_with(directive)) return std::nullopt;
  unsigned power = 0;
  auto [end, error] = std::from_chars(text.data() + directive.size(), text.data() + text.size(), power);
  std::string_view fill(end, text.data() + text.size());
  if (error != std::errc() || power > 16 || !fill.starts_with(", ") ||
      fill.find_first_not_of("0123456789", 2) != std::string_view::npos)
    return std::nullopt;
  uint64_t alignment = uint64_t{1} << power;
  return (offset + alignment - 1) & ~(alignment - 1);
}

class Printer {
public:
  Printer(const Program& program, bool addresses)
      : program_(program), object_(*program.origin), surroundings_(*program.surroundings), addresses_(addresses) {}

  /// With room for known bytes, which go to `fillings`.
  Printer(const Program& program, std::vector<Outline::Filling>& fillings) : Printer(program, false) {
    fillings_ = &fillings;
  }

  std::string print() {
    index_symbols();
    header();
    code();
    for (size_t i = 1; i < object_.sections.size(); i++)
      if (!surroundings_.is_code(i) && role(object_, object_.sections[i]) == Role::content) section(i);
    loose_symbols();
    comments();
    metadata();
    return std::move(text_);
  }

private:
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  void header() {
    const isa::Target& t = program_.target;
    auto sign = [](isa::Feature f, std::string_view name) {
      return f == isa::Feature::on    ? fmt::format("+{},", name)
             : f == isa::Feature::off ? fmt::format("-{},", name)
                                      : "";
    };
    std::string features = sign(t.sramecc, "sramecc") + sign(t.xnack, "xnack");
    if (!features.empty()) features = " -mattr=" + features.substr(0, features.size() - 1);
    line("; llvm-mc -triple=amdgcn-amd-amdhsa -mcpu={}{} -filetype=obj", isa::assembler_processor(t), features);
    if (object_.elf_type == elf::et_dyn) line("; ld.lld -shared -z notext --build-id=none");
    line("\t.amdgcn_target \"{}\"", isa::target_id(t));
    // The assembler does not write version 3 any more; build() sets the version of the original in the header.
    line("\t.amdhsa_code_object_version {}", std::max(object_.code_object_version(), 4));
  }

  // --- Symbols -------------------------------------------------------------------------------------------------------

  void index_symbols() {
    for (uint32_t i = 0; i < object_.symbols.size(); i++) {
      const Symbol& s = object_.symbols[i];
      if (s.section == elf::shn_undef || s.section >= elf::shn_loreserve || is_linker_symbol(s)) continue;
      if (surroundings_.is_code(s.section))
        code_symbols_.emplace(name_of(s), i);
      else
        by_section_[s.section].emplace(s.value, i);
    }
    for (const auto& end : surroundings_.ends) end_labels_[end.symbol] = end.label;
    for (size_t k = 0; k < object_.kernels.size(); k++) descriptors_[object_.kernels[k].descriptor_address] = k;
  }

  const std::string& name_of(const Symbol& s) const {
    return surroundings_.symbol_names[size_t(&s - object_.symbols.data())];
  }

  void binding(const Symbol& s, const std::string& name) {
    if (s.binding == elf::stb_global) line("\t.globl {}", name);
    if (s.binding == elf::stb_weak) line("\t.weak {}", name);
  }

  void visibility(uint8_t v, const std::string& name) {
    static constexpr std::string_view directives[] = {"", ".internal", ".hidden", ".protected"};
    if (v) line("\t{} {}", directives[v], name);
  }

  void type(const Symbol& s, const std::string& name) {
    if (s.type == elf::stt_func) line("\t.type {},@function", name);
    if (s.type == elf::stt_object) line("\t.type {},@object", name);
    if (s.type == elf::stt_tls) line("\t.type {},@tls_object", name);
    if (s.type == elf::stt_amdgpu_hsa_kernel) line("\t.amdgpu_hsa_kernel {}", name);
  }

  // --- Code ----------------------------------------------------------------------------------------------------------

  void code() {
    size_t sections = 0;
    const Section& s = object_.sections[surroundings_.code_sections[sections++]];
    std::string directive = section_directive(object_, s);
    line("{}", directive == "\t.section .text,\"ax\",@progbits" ? "\t.text" : directive);
    line("\t.p2align {}", std::bit_width(std::max<uint64_t>(s.alignment, 1)) - 1);
    begin_section(s.name);
    for (const Item& item : program_.items) {
      print_item(item);
      if (item.kind == ItemKind::section) begin_section(object_.sections[surroundings_.code_sections[sections++]].name);
    }
    end_room();
    for (auto [name, index] : code_symbols_) size(object_.symbols[index]);
  }

  void print_item(const Item& item) {
    if (item.kind != ItemKind::align && leave_room(item)) return;
    end_room();
    if (offset_) offset_ = item.kind == ItemKind::align ? aligned(*offset_, item.text) : *offset_ + item.size();
    switch (item.kind) {
    case ItemKind::label:
      return label(item.text);
    case ItemKind::instruction:
      return instruction(item);
    case ItemKind::data:
    case ItemKind::align:
    case ItemKind::section:
      text_ += '\t' + item.text + '\n';
    }
  }

  void label(const std::string& text) {
    std::string name = as_written(text);
    auto symbol = code_symbols_.find(text);
    if (symbol != code_symbols_.end()) {
      const Symbol& s = object_.symbols[symbol->second];
      binding(s, name);
      // `.amdhsa_kernel` copies the visibility of the kernel symbol and then makes a default one protected.
      if (!gets_visibility_later(s)) visibility(s.visibility, name);
      type(s, name);
    }
    text_ += name + ":\n";
  }

  void instruction(const Item& item) {
    text_ += '\t';
    size_t begin = text_.size();
    text_ += item.text;
    if (addresses_) {
      if (item.origin >= 0) text_.append(begin + 55 > text_.size() ? begin + 55 - text_.size() : 1, ' ');
      if (item.origin >= 0) fmt::format_to(std::back_inserter(text_), "; {:#x}", item.origin);
      if (item.raw) fmt::format_to(std::back_inserter(text_), " {}", isa::name_of(item.instruction));
    }
    text_ += '\n';
  }

  void size(const Symbol& s) {
    if (s.size == 0) return;
    std::string name = as_written(name_of(s));
    auto end = end_labels_.find(uint32_t(&s - object_.symbols.data()));
    if (end != end_labels_.end())
      line("\t.size {}, {}-{}", name, end->second, name);
    else
      line("\t.size {}, {}", name, s.size);
  }

  // --- Room for bytes ------------------------------------------------------------------------------------------------

  // What is written next belongs at `offset` of section `name`. Rooms are found by the name, so it must be the only
  // one.
  void begin_section(const std::string& name, uint64_t offset = 0) {
    auto same = [&](const Section& s) { return s.name == name && s.type == elf::sht_progbits; };
    bool only = std::ranges::count_if(object_.sections, same) <= (name == note_section ? 0 : 1);
    section_name_ = name;
    offset_ = fillings_ && only ? std::optional(offset) : std::nullopt;
  }

  // Leaves room for what the item is known to assemble to.
  bool leave_room(const Item& item) {
    if (!offset_ || !item.target.empty() || item.size() == 0) return false;
    if (item.kind == ItemKind::data) {
      auto bytes = plain_data(item.text);
      if (bytes.size() == item.data_size) add_room(bytes);
      return bytes.size() == item.data_size;
    }
    if (!is_proved(item.instruction, program_.target, item.text)) return false;
    const auto* words = reinterpret_cast<const uint8_t*>(item.instruction.words.data());
    add_room({words, item.instruction.size});
    return true;
  }

  void add_room(std::span<const uint8_t> bytes) {
    if (!room_) fillings_->push_back({section_name_, *offset_, {}});
    Bytes& filling = fillings_->back().bytes;
    filling.insert(filling.end(), bytes.begin(), bytes.end());
    room_ += bytes.size();
    *offset_ += bytes.size();
  }

  void end_room() {
    if (room_) line("\t.zero {}", room_);
    room_ = 0;
  }

  void plain_bytes(std::span<const uint8_t> bytes) {
    if (offset_ && !bytes.empty()) {
      add_room(bytes);
      end_room();
    } else {
      text_ += hex_bytes(bytes);
    }
  }

  // --- Other sections ------------------------------------------------------------------------------------------------

  void section(size_t index) {
    const Section& s = object_.sections[index];
    line("{}", section_directive(object_, s));
    if (s.alignment > 1) line("\t.p2align {}", std::bit_width(s.alignment) - 1);
    begin_section(s.name);
    auto content = object_.data(s);
    uint64_t begin = s.address, end = begin + s.size;
    std::map<uint64_t, Stop> stops = stops_in(index);
    for (auto stop = stops.begin(); stop != stops.end(); ++stop) {
      uint64_t at = stop->first, next = std::next(stop) == stops.end() ? end : std::next(stop)->first;
      for (const Symbol* symbol : stop->second.symbols) data_label(*symbol);
      if (stop->second.place) line("{}:", stop->second.place->name);
      if (stop->second.kernel >= 0 && next - at >= 64) {
        kernel_descriptor(size_t(stop->second.kernel));
        at += 64;
      } else if (const auto* reference = stop->second.reference; reference && next - at >= reference->size) {
        line("\t.{} {}", reference->size == 8 ? "quad" : "long", reference->expression);
        at += reference->size;
      }
      if (at >= next) continue;
      if (offset_) offset_ = at - begin;
      if (content.empty())
        line("\t.zero {}", next - at);
      else
        plain_bytes(content.subspan(at - begin, next - at));
    }
  }

  // What happens at an address of a section; the bytes between two stops are plain.
  struct Stop {
    std::vector<const Symbol*> symbols;
    const Surroundings::Place* place = nullptr;
    const Surroundings::Reference* reference = nullptr;
    int kernel = -1;
  };

  std::map<uint64_t, Stop> stops_in(size_t index) {
    const Section& s = object_.sections[index];
    uint64_t end = s.address + s.size;
    std::map<uint64_t, Stop> stops;
    stops[s.address];
    for (auto [address, symbol] : by_section_[index])
      if (address >= s.address && address <= end) stops[address].symbols.push_back(&object_.symbols[symbol]);
    if (!(s.flags & elf::shf_alloc)) return stops;
    auto inside = [&](uint64_t address) { return address >= s.address && address < end; };
    for (const auto& place : surroundings_.places)
      if (inside(place.address)) stops[place.address].place = &place;
    for (const auto& reference : surroundings_.references)
      if (inside(reference.address)) stops[reference.address].reference = &reference;
    for (auto d = descriptors_.lower_bound(s.address); d != descriptors_.end() && d->first < end; ++d)
      stops[d->first].kernel = int(d->second);
    return stops;
  }

  void data_label(const Symbol& s) {
    if (descriptors_.contains(s.value) && s.name == object_.kernels[descriptors_[s.value]].name + ".kd") return;
    std::string name = as_written(name_of(s));
    binding(s, name);
    visibility(s.visibility, name);
    type(s, name);
    line("{}:", name);
    if (s.size) line("\t.size {}, {}", name, s.size);
  }

  // The compiler's lines of .comment; the linker adds its own again.
  void comments() {
    const Section* s = object_.section(".comment");
    if (!s || role(object_, *s) != Role::comment) return;
    auto bytes = object_.data(*s);
    std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    while (!rest.empty()) {
      std::string_view text = rest.substr(0, rest.find('\0'));
      if (!text.starts_with("Linker:") && !as_written(text).empty()) line("\t.ident \"{}\"", text);
      rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    }
  }

  // Symbols outside of sections: undefined ones, which may be referred to or not, absolute ones, names of source files.
  void loose_symbols() {
    for (const Symbol& s : object_.symbols) {
      if (s.section == elf::shn_undef && s.binding != elf::stb_local && !as_written(s.name).empty()) {
        binding(s, as_written(s.name));
        visibility(s.visibility, as_written(s.name));
        type(s, as_written(s.name));
      }
      if (s.type == elf::stt_file && !s.name.empty() && !as_written(s.name).empty()) line("\t.file \"{}\"", s.name);
      if (s.section != elf::shn_abs || s.type == elf::stt_file || s.name.empty()) continue;
      std::string name = as_written(s.name);
      if (name.empty()) continue;
      binding(s, name);
      visibility(s.visibility, name);
      line("\t.set {}, {}", name, int64_t(s.value));
    }
  }

  // --- Descriptors ---------------------------------------------------------------------------------------------------

  const Symbol* symbol(const std::string& name) const {
    auto place = std::ranges::find(object_.symbols, name, &Symbol::name);
    return place == object_.symbols.end() ? nullptr : &*place;
  }

  // The symbol of a kernel whose descriptor symbol is default-visible: protected only after `.amdhsa_kernel`.
  bool gets_visibility_later(const Symbol& s) const {
    const Symbol* descriptor = symbol(s.name + ".kd");
    return descriptor && descriptor->visibility != s.visibility && object_.kernel(s.name);
  }

  bool directive_gives_symbols(const object::Kernel& k, const Symbol* function, const Symbol& descriptor) const {
    if (!function || !surroundings_.is_code(function->section) || function->value != k.entry_address) return false;
    bool visibility = descriptor.visibility == function->visibility
                          ? function->visibility != elf::stv_default
                          : descriptor.visibility == elf::stv_default && function->visibility == elf::stv_protected;
    return is_plain_name(k.name) && descriptor.binding == function->binding && visibility &&
           descriptor.type == elf::stt_object && descriptor.size == 64;
  }

  void kernel_descriptor(size_t index) {
    const object::Kernel& k = object_.kernels[index];
    object::KernelDescriptor d = with_resources(k.descriptor, program_.declared[index], program_.target);
    const Symbol* function = symbol(k.name);
    const Symbol& descriptor = *symbol(k.name + ".kd");
    auto directives = descriptor_directives(d, program_.target);
    if (directives && directive_gives_symbols(k, function, descriptor)) {
      line("\t.amdhsa_kernel {}\n{}\t.end_amdhsa_kernel", k.name, *directives);
      return;
    }
    std::string name = as_written(descriptor.name);
    binding(descriptor, name);
    visibility(descriptor.visibility, name);
    type(descriptor, name);
    line("{}:", name);
    if (descriptor.size) line("\t.size {}, {}", name, descriptor.size);
    text_ += hex_bytes(std::span(d.raw).first(16));
    line("\t.quad {}-{}", entry_label(index), name);
    text_ += hex_bytes(std::span(d.raw).subspan(24));
    if (function && gets_visibility_later(*function)) visibility(function->visibility, as_written(k.name));
  }

  // The label items of the function that the kernel enters.
  std::string entry_label(size_t kernel) const {
    for (const Function& f : program_.functions)
      if (f.kernel == int(kernel)) return as_written(program_.items[f.first].text);
    return as_written(object_.kernels[kernel].name);
  }

  // --- Metadata ------------------------------------------------------------------------------------------------------

  Bytes note() const {
    std::vector<object::RegisterCounts> changed;
    for (size_t k = 0; k < object_.kernels.size(); k++) {
      const isa::Resources& now = program_.declared[k];
      isa::Resources before = declared_resources(object_.kernels[k].descriptor, program_.target);
      const auto& metadata = object_.kernels[k].metadata;
      if (!metadata) continue;
      bool vgprs = now.vgprs != before.vgprs || now.agprs != before.agprs || now.accum_offset != before.accum_offset;
      bool sgprs = now.sgprs != before.sgprs;
      if (!vgprs && !sgprs) continue;
      changed.push_back({object_.kernels[k].name + ".kd",
                         vgprs ? metadata_vgpr_count(now, program_.target) : metadata->vgpr_count.value_or(0),
                         vgprs ? now.agprs : metadata->agpr_count.value_or(0),
                         sgprs ? metadata_sgpr_count(now, program_.target) : metadata->sgpr_count.value_or(0)});
    }
    if (changed.empty()) return object_.metadata_note;
    auto note = object::replace_register_counts(object_.metadata_note, changed, object_.path);
    return note ? std::move(*note) : object_.metadata_note;
  }

  void metadata() {
    if (object_.metadata_note.empty()) return;
    Bytes bytes = note();
    auto text = fillings_ ? std::nullopt : metadata_text(bytes);
    if (text) {
      text_ += "\t.amdgpu_metadata\n" + *text + "\t.end_amdgpu_metadata\n";
      return;
    }
    constexpr uint64_t header = 20; // of the note, with its name
    line("\t.section {},\"a\",@note\n\t.p2align 2", note_section);
    line("\t.long 7, {}, {}\n\t.asciz \"AMDGPU\"\n\t.byte 0", bytes.size(), elf::nt_amdgpu_metadata);
    begin_section(note_section, header);
    plain_bytes(bytes);
    text_ += "\t.p2align 2\n";
  }

  const Program& program_;
  const object::CodeObject& object_;
  const Surroundings& surroundings_;
  bool addresses_;
  std::string text_;
  std::vector<Outline::Filling>* fillings_ = nullptr;
  std::string section_name_;
  std::optional<uint64_t> offset_;               // in the section, where it is known and rooms can be left
  uint64_t room_ = 0;                            // bytes left since the last line
  std::map<std::string, uint32_t> code_symbols_; // name: index
  std::map<size_t, std::multimap<uint64_t, uint32_t>> by_section_; // section: address: index
  std::map<uint32_t, std::string> end_labels_;                     // index: label
  std::map<uint64_t, size_t> descriptors_;                         // address: kernel
};

} // namespace

std::string print_listing(const Program& program, bool addresses) { return Printer(program, addresses).print(); }

Outline print_outline(const Program& program) {
  Outline outline;
  outline.text = Printer(program, outline.fillings).print();
  return outline;
}

std::string print_items(const Program& program, size_t first, size_t last) {
  std::string text;
  for (size_t i = first; i < std::min(last, program.items.size()); i++) {
    const Item& item = program.items[i];
    text += item.kind == ItemKind::label ? as_written(item.text) + ":\n" : '\t' + item.text + '\n';
  }
  return text;
}

} // namespace asmevo::recover
