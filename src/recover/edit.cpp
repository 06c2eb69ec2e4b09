// Edits.
//
// An edit replaces a run of items by text. Everything that the text can break is checked here, before anything is
// built: each label once and none missing, entries where the hardware looks for them, sizes where addresses are
// computed in a way that is not understood. What is left for the assembler is the range of branches.
#include "recover/declare.h"
#include "recover/edit_text.h"
#include "recover/recover.h"
#include "recover/references.h"
#include "recover/spelling.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace asmevo::recover {

namespace {

using isa::AssemblyError;
using Check = std::optional<AssemblyError>;

constexpr uint32_t preload_entry = 256;
constexpr size_t furthest_getpc = 64; // items

template <class... Args> AssemblyError error_at(int line, int column, fmt::format_string<Args...> f, Args&&... args) {
  return {line, column, fmt::format(f, std::forward<Args>(args)...)};
}

class Editor {
public:
  Editor(const Program& program, std::span<const Edit> edits, const isa::Codec& codec)
      : before_(program), edits_(edits), codec_(codec) {}

  std::expected<Program, AssemblyError> run() {
    if (auto error = check_ranges()) return std::unexpected(*error);
    if (auto error = collect_labels()) return std::unexpected(*error);
    after_ = shell();
    if (auto error = splice()) return std::unexpected(*error);
    for (auto check : {&Editor::check_targets, &Editor::check_entries, &Editor::check_directions})
      if (auto error = (this->*check)()) return std::unexpected(*error);
    refresh_addends();
    if (auto error = redeclare_kernels()) return std::unexpected(*error);
    return std::move(after_);
  }

private:
  // --- Before --------------------------------------------------------------------------------------------------------

  const Function* function_of(const Edit& e) const {
    for (const Function& f : before_.functions)
      if (e.first > f.first && e.last <= f.last) return &f;
    return nullptr;
  }

  Check check_ranges() {
    size_t end = 0;
    for (const Edit& e : edits_) {
      if (e.first > e.last || e.last > before_.items.size())
        return error_at(1, 1, "items {} to {} of {} do not exist", e.first, e.last, before_.items.size());
      if (e.first < end) return error_at(1, 1, "edits overlap or are not in order at item {}", e.first);
      if (!function_of(e)) return error_at(1, 1, "items {} to {} do not lie inside one function", e.first, e.last);
      end = e.last;
    }
    return std::nullopt;
  }

  bool is_replaced(size_t item) const {
    auto edit = std::ranges::upper_bound(edits_, item, {}, &Edit::last);
    return edit != edits_.end() && edit->first <= item;
  }

  Check collect_labels() {
    for (size_t i = 0; i < before_.items.size(); i++)
      if (before_.items[i].kind == ItemKind::label && !is_replaced(i)) labels_.insert(before_.items[i].text);
    for (const Edit& e : edits_)
      for (auto& [name, line] : defined_labels(e.text))
        if (!labels_.insert(name).second) return error_at(line, 1, "label {} is defined twice", name);
    return std::nullopt;
  }

  Program shell() const {
    Program p;
    p.target = before_.target;
    p.origin = before_.origin;
    p.functions = before_.functions;
    p.declared = before_.declared;
    p.surroundings = before_.surroundings;
    p.rigid = before_.rigid;
    return p;
  }

  // --- The new items -------------------------------------------------------------------------------------------------

  Check splice() {
    size_t at = 0;
    after_.items.reserve(before_.items.size() + 64);
    std::vector<std::pair<size_t, int64_t>> moves; // items from `first` on moved by `second` in total
    for (const Edit& e : edits_) {
      after_.items.insert(after_.items.end(), before_.items.begin() + at, before_.items.begin() + e.first);
      size_t begin = after_.items.size();
      if (auto error = add(e)) return error;
      if (auto error = check_size(e, begin)) return error;
      at = e.last;
      moves.emplace_back(e.last, int64_t(after_.items.size()) - int64_t(e.last));
    }
    after_.items.insert(after_.items.end(), before_.items.begin() + at, before_.items.end());
    for (Function& f : after_.functions) {
      f.first = moved(f.first, moves);
      f.last = moved(f.last, moves);
    }
    return std::nullopt;
  }

  static size_t moved(size_t index, const std::vector<std::pair<size_t, int64_t>>& moves) {
    auto behind = std::ranges::upper_bound(moves, index, {}, &std::pair<size_t, int64_t>::first);
    return behind == moves.begin() ? index : size_t(int64_t(index) + std::prev(behind)->second);
  }

  Check add(const Edit& e) {
    if (auto known = repeated_.find(e.text); known != repeated_.end()) {
      after_.items.insert(after_.items.end(), known->second.begin(), known->second.end());
      return std::nullopt;
    }
    size_t begin = after_.items.size();
    if (auto error = assemble(e)) return error;
    std::span items = std::span(after_.items).subspan(begin);
    auto stands_alone = [](const Item& i) { return i.kind == ItemKind::instruction && i.target.empty(); };
    if (std::ranges::all_of(items, stands_alone)) repeated_.emplace(e.text, std::vector(items.begin(), items.end()));
    return std::nullopt;
  }

  Check assemble(const Edit& e) {
    std::function<bool(std::string_view)> is_label = [&](std::string_view name) {
      return labels_.contains(std::string(name));
    };
    auto text = take_apart(e.text, is_label);
    if (!text) return text.error();
    if (text->statements.empty()) return std::nullopt;
    auto bytes = codec_.assemble(text->assembly);
    if (!bytes) return bytes.error();
    return decode(*text, *bytes);
  }

  Check decode(const EditText& text, const Bytes& bytes) {
    size_t offset = 0, first = after_.items.size();
    for (const Statement& s : text.statements) {
      Item item{.text = s.text};
      switch (s.kind) {
      case StatementKind::label:
        item.kind = ItemKind::label;
        break;
      case StatementKind::align:
        item.kind = ItemKind::align;
        break;
      case StatementKind::data:
        data(s, std::span(bytes).subspan(std::min(offset, bytes.size())), item);
        break;
      case StatementKind::instruction:
        if (offset >= bytes.size()) return error_at(s.line, s.column, "{} gives no code", s.text);
        item.instruction = codec_.decode(std::span(bytes).subspan(offset), 0);
        item.instruction.branch_target = -1;
        item.target = s.target;
        if (item.instruction.size == 0 || item.instruction.encoding == isa::Encoding::unknown)
          return error_at(s.line, s.column, "{} does not decode", s.text);
      }
      offset += item.size();
      after_.items.push_back(std::move(item));
    }
    if (offset != bytes.size())
      return error_at(1, 1, "the text assembles to {} bytes, its statements to {}", bytes.size(), offset);
    spell_from(first, text);
    return std::nullopt;
  }

  // Words that are an instruction which no other text spells stay one: what is raw in a listing is raw in an edit of
  // it.
  void data(const Statement& s, std::span<const uint8_t> bytes, Item& item) const {
    item.kind = ItemKind::data;
    item.data_size = s.data_size;
    if (!s.text.starts_with(".long") || bytes.size() < s.data_size) return;
    isa::Instruction decoded = codec_.decode(bytes.first(s.data_size), 0);
    if (decoded.size != s.data_size || decoded.encoding == isa::Encoding::unknown) return;
    const isa::Instruction* only = &decoded;
    if (!spell(std::span(&only, 1), codec_).front().raw) return;
    item.kind = ItemKind::instruction;
    item.raw = true;
    item.data_size = 0;
    item.instruction = decoded;
  }

  void spell_from(size_t first, const EditText& text) {
    std::vector<const isa::Instruction*> instructions;
    for (size_t i = first; i < after_.items.size(); i++)
      if (after_.items[i].kind == ItemKind::instruction) instructions.push_back(&after_.items[i].instruction);
    auto spellings = spell(instructions, codec_);
    size_t next = 0;
    for (size_t i = first; i < after_.items.size(); i++) {
      Item& item = after_.items[i];
      if (item.kind != ItemKind::instruction) continue;
      const Spelling& s = spellings[next++];
      if (text.statements[i - first].symbolic) continue;
      item.text = item.target.empty() ? s.text : s.text.substr(0, s.text.rfind(' ') + 1) + item.target;
      item.raw = s.raw && item.target.empty();
    }
  }

  Check check_size(const Edit& e, size_t begin) const {
    if (before_.rigid.empty()) return std::nullopt;
    uint64_t before = 0, after = 0;
    for (size_t i = e.first; i < e.last; i++) before += before_.items[i].size();
    for (size_t i = begin; i < after_.items.size(); i++) after += after_.items[i].size();
    if (before == after) return std::nullopt;
    return error_at(1, 1, "the edit makes {} bytes out of {}, but sizes must not change here ({})", after, before,
                    before_.rigid);
  }

  // --- After ---------------------------------------------------------------------------------------------------------

  Check check_targets() {
    std::unordered_set<std::string> lost;
    for (const Edit& e : edits_)
      for (size_t i = e.first; i < e.last; i++)
        if (before_.items[i].kind == ItemKind::label && !labels_.contains(before_.items[i].text))
          lost.insert(before_.items[i].text);
    if (lost.empty()) return std::nullopt;
    for (const std::string& name : lost) {
      if (auto user = user_of(name); !user.empty())
        return error_at(1, 1, "label {} is removed but {} needs it", name, user);
    }
    return std::nullopt;
  }

  // Something that needs the label, or nothing.
  std::string user_of(const std::string& label) const {
    for (const Item& item : after_.items)
      if (item.kind != ItemKind::label && (item.target == label || mentions(item.text, label)))
        return fmt::format("\"{}\"", item.text);
    for (const auto& reference : before_.surroundings->references)
      if (reference.label == label) return "data of another section";
    for (const auto& end : before_.surroundings->ends)
      if (end.label == label) return "the size of a function";
    for (size_t i = 0; i < before_.origin->symbols.size(); i++) {
      const object::Symbol& s = before_.origin->symbols[i];
      if (before_.surroundings->symbol_names[i] == label && (s.binding != 0 || s.type == 2)) return "the symbol table";
    }
    return "";
  }

  static bool mentions(const std::string& text, const std::string& label) {
    size_t at = text.find(label);
    if (at == std::string::npos) return false;
    auto is_name = [](char c) { return std::isalnum(uint8_t(c)) || c == '_' || c == '.' || c == '$'; };
    size_t end = at + label.size();
    return (at == 0 || !is_name(text[at - 1])) && (end == text.size() || !is_name(text[end]));
  }

  // Where kernel arguments are preloaded, the hardware enters 256 bytes behind the first instruction.
  Check check_entries() {
    for (const Function& f : after_.functions) {
      if (f.kernel < 0 || !(before_.origin->kernels[f.kernel].descriptor.kernarg_preload() & 0x7f)) continue;
      uint64_t size = 0;
      size_t i = f.first;
      while (i < f.last && after_.items[i].kind != ItemKind::align) size += after_.items[i++].size();
      if (i == f.last) return error_at(1, 1, "kernel {} has lost the alignment before its second entry", f.name);
      if (size == 0 || size > preload_entry)
        return error_at(1, 1, "kernel {}: {} bytes before its second entry, which must stay at +{}", f.name, size,
                        preload_entry);
    }
    return std::nullopt;
  }

  // Calls `visit(getpc, low, high)` for address computations; `high` is the carry, or low where there is none near.
  template <class Visit> void each_address(Visit visit) const {
    for (size_t low = 0; low < after_.items.size(); low++) {
      const Item& item = after_.items[low];
      if (item.kind != ItemKind::instruction || item.target.empty() || item.instruction.traits.branch) continue;
      for (size_t back = 1; back <= std::min(low, furthest_getpc); back++) {
        const Item& base = after_.items[low - back];
        if (base.kind != ItemKind::instruction || !is_getpc(base.instruction)) continue;
        visit(low - back, low);
        break;
      }
    }
  }

  // A carry written as the constant 0 or -1 says in which direction the target lies.
  Check check_directions() {
    std::unordered_map<std::string, size_t> places;
    for (size_t i = 0; i < after_.items.size(); i++)
      if (after_.items[i].kind == ItemKind::label) places[after_.items[i].text] = i;
    Check error;
    each_address([&](size_t base, size_t low) {
      auto label = places.find(after_.items[low].target);
      if (label == places.end() || error) return;
      for (size_t i = low + 1; i < std::min(low + furthest_getpc, after_.items.size()); i++) {
        const Item& item = after_.items[i];
        if (item.kind != ItemKind::instruction || !item.target.empty()) continue;
        auto upward = carry_direction(after_.items[low].instruction, item.instruction);
        if (!upward) continue;
        if (*upward != (label->second > base))
          error = error_at(1, 1, "\"{}\" does not reach {} any more: it lies on the other side of s_getpc_b64",
                           item.text, label->first);
        return;
      }
    });
    return error;
  }

  // `symbol@rel32@lo+n`: n counts from behind s_getpc_b64 to the literal, so what was inserted between counts too.
  void refresh_addends() {
    std::vector<std::pair<size_t, uint64_t>> addends;
    each_address([&](size_t base, size_t low) {
      uint64_t distance = 0;
      for (size_t i = base + 1; i <= low; i++) distance += after_.items[i].size();
      addends.emplace_back(low, distance - 4);
    });
    for (auto [i, addend] : addends) {
      std::string& text = after_.items[i].text;
      size_t at = text.find("rel32@");
      if (at == std::string::npos) continue;
      size_t plus = text.find('+', at), end = std::min(text.find(',', at), text.size());
      if (plus == std::string::npos || plus > end) continue;
      text.replace(plus + 1, end - plus - 1, fmt::format("{}", addend));
    }
  }

  Check redeclare_kernels() {
    for (size_t f = 0; f < after_.functions.size(); f++) {
      const Function &old_function = before_.functions[f], &new_function = after_.functions[f];
      bool touched = std::ranges::any_of(
          edits_, [&](const Edit& e) { return e.first > old_function.first && e.last <= old_function.last; });
      if (!touched) continue;
      for (int k = 0; k < int(after_.declared.size()); k++) {
        if (old_function.kernel >= 0 && old_function.kernel != k) continue;
        auto done = redeclare(before_, old_function, after_, new_function, k);
        if (!done) return error_at(1, 1, "{}", done.error().message);
      }
    }
    return std::nullopt;
  }

  const Program& before_;
  std::span<const Edit> edits_;
  const isa::Codec& codec_;
  std::unordered_set<std::string> labels_;                      // of the listing after the edits
  std::unordered_map<std::string, std::vector<Item>> repeated_; // text that refers to nothing: its items
  Program after_;
};

} // namespace

std::expected<Program, AssemblyError> apply(const Program& program, std::span<const Edit> edits,
                                            const isa::Codec& codec) {
  return Editor(program, edits, codec).run();
}

} // namespace asmevo::recover
