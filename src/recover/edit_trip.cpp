#include "recover/edit_trip.h"

#include "recover/recover.h"

#include <algorithm>
#include <random>
#include <unordered_map>

namespace asmevo::recover {

namespace {

constexpr uint32_t one_in = 20;
constexpr size_t longest_computation = 16; // items from s_getpc_b64 to its last sum
constexpr size_t longest_block = 40, shortest_function = 12;
constexpr uint64_t reach_of_a_branch = 120'000; // bytes, some room for what is added
constexpr size_t most_differences = 20;

// The instructions of a program by ordinal, and what lies where.
struct Flat {
  std::vector<const Item*> items;
  std::unordered_map<std::string_view, size_t> labels; // ordinal of the instruction behind
  std::unordered_map<std::string_view, uint64_t> places;

  explicit Flat(const Program& program) {
    for (const Item& item : program.items) {
      if (item.kind == ItemKind::label) labels[item.text] = items.size();
      if (item.kind == ItemKind::instruction) items.push_back(&item);
    }
    for (const auto& place : program.surroundings->places) places[place.name] = place.address;
    for (size_t i = 0; i < program.origin->symbols.size(); i++)
      places.emplace(program.surroundings->symbol_names[i], program.origin->symbols[i].value);
  }
};

std::string where(const object::CodeObject& object, const Flat& flat, const std::string& name) {
  auto place = flat.places.find(name);
  const object::Section* s = place == flat.places.end() ? nullptr : object.section_at(place->second);
  return s ? fmt::format("{}+{:#x}", s->name, place->second - s->address) : name;
}

class Comparison {
public:
  Comparison(const Program& before, const Program& after, std::span<const size_t> order)
      : before_(before), after_(after), old_(before), new_(after), order_(order) {}

  std::vector<std::string> run() {
    if (new_.items.size() != order_.size()) {
      differ("{} instructions, {} expected", new_.items.size(), order_.size());
      return std::move(differences_);
    }
    for (size_t i = 0; i < order_.size(); i++)
      if (order_[i] != added) instruction(*old_.items[order_[i]], *new_.items[i]);
    pointers();
    entries();
    return std::move(differences_);
  }

private:
  template <class... Args> void differ(fmt::format_string<Args...> format, Args&&... args) {
    if (differences_.size() < most_differences)
      differences_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  // The ordinal, as it was before, of the instruction where control arrives that goes to instruction `i`: through what
  // was added to something that was there.
  size_t arrives(size_t i) const {
    for (size_t steps = 0; i < order_.size() && order_[i] == added && steps <= order_.size(); steps++)
      i = new_.items[i]->target.empty() ? i + 1 : new_.labels.at(new_.items[i]->target);
    return i < order_.size() ? order_[i] : old_.items.size();
  }

  void instruction(const Item& x, const Item& y) {
    auto at = [&] { return fmt::format("{:#x}: \"{}\"", uint64_t(x.origin), x.text); };
    if (x.instruction.mnemonic != y.instruction.mnemonic || x.target.empty() != y.target.empty())
      return differ("{} has become \"{}\"", at(), y.text);
    if (x.target.empty()) {
      if (x.instruction.words != y.instruction.words) differ("{} has become \"{}\"", at(), y.text);
      return;
    }
    if (auto label = old_.labels.find(x.target); label != old_.labels.end()) {
      auto other = new_.labels.find(y.target);
      if (other == new_.labels.end() || arrives(other->second) != label->second)
        differ("{} leads elsewhere: \"{}\"", at(), y.text);
    } else if (where(*before_.origin, old_, x.target) != where(*after_.origin, new_, y.target)) {
      differ("{} leads to {}", at(), where(*after_.origin, new_, y.target));
    }
  }

  // Words of other sections that lead into the code.
  void pointers() {
    const auto &x = before_.surroundings->references, &y = after_.surroundings->references;
    if (x.size() != y.size()) return differ("{} pointers, {} expected", y.size(), x.size());
    for (size_t i = 0; i < x.size(); i++) {
      if (x[i].label.empty()) continue;
      auto other = new_.labels.find(y[i].label);
      if (other == new_.labels.end() || arrives(other->second) != old_.labels.at(x[i].label))
        differ("the pointer at {:#x} to {} leads elsewhere", x[i].address, x[i].label);
    }
  }

  void entries() {
    if (before_.functions.size() != after_.functions.size())
      return differ("{} functions, {} expected", after_.functions.size(), before_.functions.size());
    for (size_t f = 0; f < before_.functions.size(); f++) {
      const Function &x = before_.functions[f], &y = after_.functions[f];
      if (x.name != y.name || arrives(first_of(after_, y)) != first_of(before_, x))
        differ("function {} begins elsewhere", x.name);
    }
  }

  static size_t first_of(const Program& program, const Function& f) {
    return size_t(std::count_if(program.items.begin(), program.items.begin() + ptrdiff_t(f.first),
                                [](const Item& item) { return item.kind == ItemKind::instruction; }));
  }

  const Program &before_, &after_;
  Flat old_, new_;
  std::span<const size_t> order_;
  std::vector<std::string> differences_;
};

class Trial {
public:
  Trial(const Program& program, const isa::Codec& codec, uint64_t seed)
      : program_(program), codec_(codec), random_(seed) {}

  Result<EditTrip> run() {
    if (!program_.rigid.empty()) {
      result_.differences.push_back("sizes must not change: " + program_.rigid);
      return std::move(result_);
    }
    AE_CHECK(insert());
    AE_CHECK(move());
    return std::move(result_);
  }

private:
  bool is_instruction(size_t i) const { return program_.items[i].kind == ItemKind::instruction; }

  Result<void> insert() {
    std::vector<Edit> edits;
    std::vector<size_t> order;
    size_t ordinal = 0, at = 0;
    for (const Function& f : program_.functions) {
      for (; at < f.last; at++) {
        if (!is_instruction(at)) continue;
        if (at > f.first && random_() % one_in == 0) {
          edits.push_back({at, at, "s_nop 1"});
          order.push_back(added);
        }
        order.push_back(ordinal++);
      }
    }
    for (; at < program_.items.size(); at++)
      if (is_instruction(at)) order.push_back(ordinal++);
    result_.inserted = edits.size();
    return compare("s_nop inserted", edits, order);
  }

  // The parts of a computed address are recognised together: no branch may come between s_getpc_b64 and its sums.
  bool cuts_an_address(size_t at) const {
    size_t from = at;
    while (from > 0 && at - from < longest_computation &&
           isa::name_of(program_.items[from - 1].instruction) != "s_getpc_b64")
      from--;
    if (from == 0 || at - from == longest_computation) return false;
    for (size_t i = at; i < std::min(from + longest_computation, program_.items.size()); i++)
      if (is_instruction(i) && !program_.items[i].target.empty() && !program_.items[i].instruction.traits.branch)
        return true;
    return false;
  }

  // A run of items goes behind the end of its function, with a branch there and a branch back.
  Result<void> move() {
    if (program_.functions.empty()) return {};
    const Function& f = program_.functions[random_() % program_.functions.size()];
    size_t end = f.last;
    while (end > f.first && !is_instruction(end - 1)) end--;
    if (end < f.first + shortest_function || !program_.items[end - 1].instruction.traits.terminator) return {};
    size_t first = f.first + 1 + random_() % (end - f.first - 8), last = first;
    while (last < end - 1 && last < first + longest_block &&
           (is_instruction(last) || program_.items[last].kind == ItemKind::label))
      last++;
    while (first < last && cuts_an_address(first)) first++;
    while (first < last && cuts_an_address(last)) last--;
    // The entry sequence of preloaded arguments may not grow, and an alignment may not move.
    size_t body = f.first;
    for (size_t i = f.first; i < f.last; i++)
      if (program_.items[i].kind == ItemKind::align) body = i;
    uint64_t far = uint64_t(program_.items[end - 1].origin - program_.items[first].origin);
    if (last <= first || first <= body || far > reach_of_a_branch) return {};
    std::vector<Edit> edits = {
        {first, last, "s_branch .Lmoved_there\n.Lmoved_back:"},
        {end, end, ".Lmoved_there:\n" + print_items(program_, first, last) + "s_branch .Lmoved_back"}};
    return compare("a block moved", edits, order_after_move(first, last, end));
  }

  std::vector<size_t> order_after_move(size_t first, size_t last, size_t end) {
    std::vector<size_t> order, moved;
    size_t ordinal = 0;
    for (size_t i = 0; i <= program_.items.size(); i++) {
      if (i == first) order.push_back(added);
      if (i == end) {
        order.insert(order.end(), moved.begin(), moved.end());
        order.push_back(added);
      }
      if (i < program_.items.size() && is_instruction(i)) (i >= first && i < last ? moved : order).push_back(ordinal++);
    }
    result_.moved = moved.size();
    return order;
  }

  Result<void> compare(std::string_view what, const std::vector<Edit>& edits, const std::vector<size_t>& order) {
    auto edited = apply(program_, edits, codec_);
    auto bytes = edited ? build(*edited, codec_) : std::unexpected(edited.error());
    if (!bytes) {
      result_.differences.push_back(fmt::format("{}: {}", what, bytes.error().message));
      return {};
    }
    std::string path = fmt::format("{} ({})", program_.origin->path, what);
    AE_TRY(object::CodeObject object, object::read_code_object(std::move(*bytes), path));
    auto shared = std::make_shared<const object::CodeObject>(std::move(object));
    if (auto difference = abi_difference(*program_.origin, *shared))
      result_.differences.push_back(fmt::format("{}: {}", what, *difference));
    AE_TRY(Program after, recover(shared, codec_));
    for (const std::string& difference : moved_differences(program_, after, order))
      result_.differences.push_back(fmt::format("{}: {}", what, difference));
    return {};
  }

  const Program& program_;
  const isa::Codec& codec_;
  std::mt19937_64 random_;
  EditTrip result_;
};

} // namespace

std::vector<std::string> moved_differences(const Program& before, const Program& after, std::span<const size_t> order) {
  return Comparison(before, after, order).run();
}

Result<EditTrip> edit_trip(const Program& program, const isa::Codec& codec, uint64_t seed) {
  return Trial(program, codec, seed).run();
}

} // namespace asmevo::recover
