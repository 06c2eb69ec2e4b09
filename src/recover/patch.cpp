// The in-place patch.
//
// Nothing may move, so every distance outside of the window stays true and everything outside can be given to the
// assembler as the words it is. What comes back must equal the original everywhere but in the window; that is checked
// and not assumed.
#include "object/elf.h"
#include "recover/names.h"
#include "recover/recover.h"

#include <algorithm>
#include <cstring>

namespace asmevo::recover {

namespace {

using isa::AssemblyError;

template <class... Args> std::unexpected<AssemblyError> refuse(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(AssemblyError{1, 1, fmt::format(format, std::forward<Args>(args)...)});
}

bool same_resources(const isa::Resources& a, const isa::Resources& b) {
  return a.vgprs == b.vgprs && a.agprs == b.agprs && a.sgprs == b.sgprs && a.accum_offset == b.accum_offset;
}

struct Window {
  uint64_t begin = 0, end = 0; // offsets in the code section
};

class Patcher {
public:
  Patcher(const Program& program, const Edit& edit, const isa::Codec& codec)
      : program_(program), edit_(edit), codec_(codec), object_(*program.origin), code_(section_of(program, edit)) {}

  std::expected<Bytes, AssemblyError> run() {
    auto window = find_window();
    if (!window) return std::unexpected(window.error());
    Program rigid = program_;
    rigid.rigid.clear(); // sizes are kept here by padding
    auto edited = apply(rigid, std::span(&edit_, 1), codec_);
    if (!edited) return std::unexpected(edited.error());
    for (size_t k = 0; k < program_.declared.size(); k++)
      if (!same_resources(program_.declared[k], edited->declared[k]))
        return refuse("kernel {} would need other registers than it declares", object_.kernels[k].name);
    auto text = text_of(*edited, *window);
    if (!text) return std::unexpected(text.error());
    auto bytes = codec_.assemble(*text);
    if (!bytes) return refuse("the patched code does not assemble: {}", bytes.error().message);
    return written(*bytes, *window);
  }

private:
  // The code section in which the edit begins.
  static const object::Section& section_of(const Program& program, const Edit& edit) {
    size_t section = 0;
    for (size_t i = 0; i < std::min(edit.first, program.items.size()); i++)
      section += program.items[i].kind == ItemKind::section;
    return program.origin->sections[program.surroundings->code_sections[section]];
  }

  bool in_section(const Item& item) const {
    return item.origin >= 0 && uint64_t(item.origin) - code_.address <= code_.size;
  }

  std::expected<Window, AssemblyError> find_window() const {
    if (edit_.first >= edit_.last || edit_.last > program_.items.size()) return refuse("the edit replaces nothing");
    Window w{uint64_t(program_.items[edit_.first].origin) - code_.address, 0};
    w.end = w.begin;
    auto stored = std::span(object_.bytes).subspan(code_.offset, code_.size);
    for (size_t i = edit_.first; i < edit_.last; i++) {
      const Item& item = program_.items[i];
      if (item.kind == ItemKind::label) continue;
      if (item.kind != ItemKind::instruction || item.text.find('@') != std::string::npos)
        return refuse("\"{}\" cannot be patched in place", item.text);
      if (item.origin < 0 || uint64_t(item.origin) - code_.address != w.end || stored.size() - w.end < item.size() ||
          std::memcmp(stored.data() + w.end, item.instruction.words.data(), item.size()) != 0)
        return refuse("the bytes of \"{}\" in the object are not what was decoded", item.text);
      w.end += item.size();
    }
    return w;
  }

  // The code section: words outside of the window, the new text and padding inside, all labels.
  std::expected<std::string, AssemblyError> text_of(const Program& edited, const Window& w) const {
    auto stored = std::span(object_.bytes).subspan(code_.offset, code_.size);
    size_t last = edit_.last + edited.items.size() - program_.items.size();
    uint64_t size = 0;
    for (size_t i = edit_.first; i < last; i++) {
      if (edited.items[i].kind == ItemKind::align || edited.items[i].text.find('@') != std::string::npos)
        return refuse("\"{}\" cannot be patched in place", edited.items[i].text);
      size += edited.items[i].size();
    }
    if (size > w.end - w.begin) return refuse("the edit needs {} bytes, there are {}", size, w.end - w.begin);
    if (size % 4) return refuse("the edit leaves {} bytes that are no instruction", size % 4);
    std::string text;
    uint64_t at = 0;
    auto words_up_to = [&](uint64_t end) {
      for (; at < end; at++) text += fmt::format("\t.byte {:#04x}\n", stored[at]);
    };
    for (size_t i = 0; i < edited.items.size(); i++) {
      bool inside = i >= edit_.first && i < last;
      const Item& item = edited.items[i];
      if (inside) {
        words_up_to(w.begin);
        text += print_items(edited, i, i + 1);
      } else {
        if (i == last) finish_window(text, at, w, size);
        if (item.kind != ItemKind::label || !in_section(item)) continue;
        words_up_to(uint64_t(item.origin) - code_.address);
        text += as_written(item.text) + ":\n";
      }
    }
    if (last == edited.items.size()) finish_window(text, at, w, size);
    words_up_to(stored.size());
    return text;
  }

  static void finish_window(std::string& text, uint64_t& at, const Window& w, uint64_t size) {
    for (uint64_t padding = size; padding < w.end - w.begin; padding += 4) text += "\ts_nop 0\n";
    at = w.end;
  }

  std::expected<Bytes, AssemblyError> written(const Bytes& code, const Window& w) const {
    auto stored = std::span(object_.bytes).subspan(code_.offset, code_.size);
    if (code.size() != stored.size())
      return refuse("the patched code has {} bytes, not {}", code.size(), stored.size());
    for (uint64_t i = 0; i < code.size(); i++)
      if ((i < w.begin || i >= w.end) && code[i] != stored[i])
        return refuse("the patch would change {}+{:#x}, outside of the edit", code_.name, i);
    Bytes bytes = object_.bytes;
    std::copy(code.begin() + w.begin, code.begin() + w.end, bytes.begin() + code_.offset + w.begin);
    return bytes;
  }

  const Program& program_;
  const Edit& edit_;
  const isa::Codec& codec_;
  const object::CodeObject& object_;
  const object::Section& code_;
};

} // namespace

std::expected<Bytes, AssemblyError> patch_in_place(const Program& program, const Edit& edit, const isa::Codec& codec) {
  return Patcher(program, edit, codec).run();
}

} // namespace asmevo::recover
