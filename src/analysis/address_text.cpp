// Addresses for people: a base, then what is added to it, in the names that a listing has.
#include "analysis/addresses.h"

#include <algorithm>
#include <fmt/format.h>

namespace asmevo::analysis {
namespace {

constexpr unsigned deepest = 3; // symbols within symbols

class Writer {
public:
  Writer(const Forms& forms, const Graph& graph, const recover::Program& program)
      : forms_(forms), graph_(graph), program_(program) {}

  std::string sum(const Form& form, unsigned bits, unsigned depth = 0) const {
    std::string out;
    for (const Term& term : form.terms) {
      const int64_t factor = as_signed(term.factor, bits);
      out += out.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
      const uint64_t size = factor < 0 ? 0 - static_cast<uint64_t>(factor) : static_cast<uint64_t>(factor);
      if (size != 1) out += size >= 65536 && (size & (size - 1)) == 0 ? power(size) : fmt::format("{}*", size);
      out += symbol(term.symbol, depth);
    }
    const int64_t constant = as_signed(form.constant, bits);
    if (out.empty()) return number(constant);
    if (constant != 0) out += (constant < 0 ? " - " : " + ") + number(constant < 0 ? -constant : constant);
    return out;
  }

private:
  static int64_t as_signed(uint64_t value, unsigned bits) {
    return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
  }
  static std::string number(int64_t value) {
    return value < 4096 && value > -4096 ? fmt::format("{}", value) : fmt::format("{:#x}", value);
  }
  static std::string power(uint64_t value) { return fmt::format("2^{}*", __builtin_ctzll(value)); }

  std::string place(uint64_t item) const {
    const recover::Item& at = program_.items[item];
    return at.origin >= 0 ? fmt::format("{:#x}", at.origin) : fmt::format("item {}", item);
  }

  std::string list(const Symbol& s, unsigned depth) const {
    std::string out;
    for (FormId of : s.of) out += (out.empty() ? "" : ", ") + sum(forms_[of], 32, depth + 1);
    return out;
  }

  std::string symbol(SymbolId id, unsigned depth) const {
    const Symbol& s = forms_.name(id);
    const auto of = [&](unsigned bits) {
      return depth < deepest ? sum(forms_[s.of[0]], bits, depth + 1) : std::string("...");
    };
    switch (s.kind) {
    case SymbolKind::work_item:
      return fmt::format("item.{}", "xyz"[s.a]);
    case SymbolKind::workgroup:
      return fmt::format("group.{}", "xyz"[s.a]);
    case SymbolKind::lane:
      return "lane";
    case SymbolKind::kernarg_word:
      return fmt::format("arg+{}.dword", s.a);
    case SymbolKind::kernarg_pair:
      return fmt::format("arg+{}", s.a);
    case SymbolKind::kernarg_segment:
      return "kernarg";
    case SymbolKind::scratch:
      return "scratch";
    case SymbolKind::image:
      return "image";
    case SymbolKind::program_counter:
      return fmt::format("pc@{}", place(s.a));
    case SymbolKind::entry:
      return fmt::format("{}@entry", register_name(s.a));
    case SymbolKind::iteration:
      return fmt::format("round@{}", block_place(s.a));
    case SymbolKind::written:
      return fmt::format("{}@{}", register_name(s.b), place(s.a));
    case SymbolKind::merged:
      return fmt::format("{}@{}", register_name(s.b), block_place(s.a));
    case SymbolKind::zero_extended:
      return fmt::format("zext({})", of(32));
    case SymbolKind::sign_extended:
      return fmt::format("sext({})", of(32));
    case SymbolKind::upper:
      return fmt::format("hi({})", of(64));
    case SymbolKind::sign:
      return fmt::format("sign({})", of(32));
    case SymbolKind::product:
      return depth < deepest ? fmt::format("mul({})", list(s, depth)) : "mul(...)";
    case SymbolKind::carry:
    case SymbolKind::borrow:
      return "carry";
    case SymbolKind::function:
      return depth < deepest ? fmt::format("{}({})", function_name(s.a), list(s, depth)) : "f(...)";
    case SymbolKind::mask:
      return "mask";
    }
    return "?";
  }

  static std::string function_name(uint64_t which) {
    constexpr const char* own[] = {"and", "or", "xor", "shr", "resource"};
    if (which >= word_function::conjunction) return own[which - word_function::conjunction];
    return std::string(isa::mnemonic_name(static_cast<uint16_t>(which)));
  }

  /// The block's label, or where it begins.
  std::string block_place(uint64_t block) const {
    const size_t first = graph_.blocks[block].first;
    return program_.items[first].kind == recover::ItemKind::label ? program_.items[first].text : place(first);
  }

  const Forms& forms_;
  const Graph& graph_;
  const recover::Program& program_;
};

bool is_base(const Address& address, const Symbol& symbol) {
  switch (address.base) {
  case BaseKind::kernarg_pointer:
    return symbol.kind == SymbolKind::kernarg_pair && symbol.a == address.kernarg;
  case BaseKind::kernarg_segment:
    return symbol.kind == SymbolKind::kernarg_segment;
  case BaseKind::image:
    return symbol.kind == SymbolKind::image;
  default:
    return false;
  }
}

} // namespace

std::string base_text(const Address& address) {
  switch (address.base) {
  case BaseKind::kernarg_pointer:
    return fmt::format("arg+{}", address.kernarg);
  case BaseKind::kernarg_segment:
    return "kernarg";
  case BaseKind::image:
    return "image";
  case BaseKind::lds:
    return "lds";
  case BaseKind::scratch:
    return "scratch";
  case BaseKind::unknown:
    break;
  }
  return "unknown";
}

std::string offset_text(const Addresses& addresses, const Address& address, const recover::Program& program) {
  const Forms& forms = addresses.values().forms();
  const Writer writer(forms, addresses.graph(), program);
  const auto without_base = [&](FormId id) {
    Form form = forms[id];
    const auto base = std::ranges::find_if(
        form.terms, [&](const Term& term) { return term.factor == 1 && is_base(address, forms.name(term.symbol)); });
    if (base != form.terms.end()) form.terms.erase(base);
    return form;
  };
  const auto field = static_cast<uint64_t>(address.access.extents[0].offset);
  Form rest = without_base(address.form);
  rest.constant += field;
  const std::string sum = writer.sum(rest, address.bits == 32 ? 32 : 64);
  if (!address.origin) return sum;
  const std::string origin = writer.sum(without_base(*address.origin), 64);
  return origin == "0" ? fmt::format("zext({})", sum) : fmt::format("{} + zext({})", origin, sum);
}

} // namespace asmevo::analysis
