// Every real object there is: the trip without an edit gives it back, and after edits every branch, call and address
// computation still leads where it led.
#include "programs.h"

#include <random>

namespace asmevo::recover {
namespace {

using namespace testing;

struct Flat { // the instructions of a program, and what each refers to, by ordinal
  std::vector<const Item*> items;
  std::map<std::string, size_t> labels;
};

Flat flatten(const Program& program) {
  Flat flat;
  for (const Item& item : program.items) {
    if (item.kind == ItemKind::label) flat.labels[item.text] = flat.items.size();
    if (item.kind == ItemKind::instruction) flat.items.push_back(&item);
  }
  return flat;
}

constexpr uint64_t reach_of_a_branch = 120000; // bytes, some room for what is added

// `order`: for each instruction of `after` the ordinal it had before, or `added`.
constexpr size_t added = ~size_t{0};

void expect_same_references(const Program& before, const Program& after, const std::vector<size_t>& order) {
  Flat a = flatten(before), b = flatten(after);
  ASSERT_EQ(b.items.size(), order.size()) << before.origin->path;
  // Where control arrives that goes to instruction `i`: through what was added to something that was there before.
  auto arrives = [&](size_t i) {
    while (i < order.size() && order[i] == added)
      i = b.items[i]->target.empty() ? i + 1 : b.labels.at(b.items[i]->target);
    return i < order.size() ? order[i] : a.items.size();
  };
  for (size_t i = 0; i < order.size(); i++) {
    if (order[i] == added) continue;
    const Item &x = *a.items[order[i]], &y = *b.items[i];
    ASSERT_EQ(x.instruction.mnemonic, y.instruction.mnemonic) << before.origin->path << " " << x.text << " " << y.text;
    ASSERT_EQ(x.target.empty(), y.target.empty()) << x.text << " " << y.text;
    if (x.target.empty()) {
      ASSERT_EQ(x.instruction.words, y.instruction.words) << x.text;
    } else if (a.labels.contains(x.target)) { // otherwise data of another section: compared by round trips
      ASSERT_TRUE(b.labels.contains(y.target)) << y.text;
      ASSERT_EQ(arrives(b.labels.at(y.target)), a.labels.at(x.target)) << before.origin->path << ": " << x.text;
    }
  }
}

void build_and_compare(const Program& before, const std::vector<Edit>& edits, const std::vector<size_t>& order) {
  auto edited = apply(before, edits, codec_for(before.target));
  ASSERT_TRUE(edited) << before.origin->path << ": " << edited.error().message;
  auto bytes = build(*edited, codec_for(before.target));
  ASSERT_TRUE(bytes) << before.origin->path << ": " << bytes.error().message;
  auto object = object_of(*bytes, before.origin->path);
  ASSERT_EQ(abi_difference(*before.origin, *object), std::nullopt);
  expect_same_references(before, program_of(object), order);
}

bool inside_function(const Program& program, size_t item) {
  return std::ranges::any_of(program.functions, [&](const Function& f) { return item > f.first && item < f.last; });
}

void insert_nops_and_compare(const Program& before, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Edit> edits;
  std::vector<size_t> order;
  size_t ordinal = 0;
  for (size_t i = 0; i < before.items.size(); i++) {
    if (before.items[i].kind != ItemKind::instruction) continue;
    if (inside_function(before, i) && random() % 20 == 0) {
      edits.push_back({i, i, "s_nop 1"});
      order.push_back(added);
    }
    order.push_back(ordinal++);
  }
  build_and_compare(before, edits, order);
}

// A run of items goes behind the end of its function, with a branch there and a branch back.
void move_a_block_and_compare(const Program& before, uint32_t seed) {
  std::mt19937 random(seed);
  const Function& f = before.functions[random() % before.functions.size()];
  auto is_code = [&](size_t i) {
    return before.items[i].kind == ItemKind::instruction || before.items[i].kind == ItemKind::label;
  };
  size_t end = f.last;
  while (end > f.first && before.items[end - 1].kind != ItemKind::instruction) end--;
  if (end < f.first + 12 || !before.items[end - 1].instruction.traits.terminator) return;
  size_t first = f.first + 1 + random() % (end - f.first - 8), last = first;
  while (last < end - 1 && last < first + 40 && is_code(last)) last++;
  // The entry sequence of preloaded arguments may not grow, and an alignment may not move.
  size_t begin_of_body = f.first;
  for (size_t i = f.first; i < f.last; i++)
    if (before.items[i].kind == ItemKind::align) begin_of_body = i;
  uint64_t far = uint64_t(before.items[end - 1].origin - before.items[first].origin);
  if (last <= first || first <= begin_of_body || far > reach_of_a_branch) return;
  std::vector<size_t> order, moved;
  size_t ordinal = 0;
  for (size_t i = 0; i < before.items.size(); i++) {
    if (i == first) order.push_back(added);
    if (i == end) {
      order.insert(order.end(), moved.begin(), moved.end());
      order.push_back(added);
    }
    if (before.items[i].kind == ItemKind::instruction) (i >= first && i < last ? moved : order).push_back(ordinal++);
  }
  if (end == before.items.size()) {
    order.insert(order.end(), moved.begin(), moved.end());
    order.push_back(added);
  }
  std::vector<Edit> edits = {
      {first, last, "s_branch .Lmoved_there\n.Lmoved_back:"},
      {end, end, ".Lmoved_there:\n" + print_items(before, first, last) + "s_branch .Lmoved_back"}};
  build_and_compare(before, edits, order);
}

void expect_to_survive(const std::vector<std::string>& files) {
  if (files.empty()) GTEST_SKIP() << "NOT TESTED: objects not found in the data folder (set ASMEVO_DATA)";
  uint32_t seed = 0;
  for (const std::string& file : files) {
    Program program = program_of(file);
    expect_round_trip(program);
    insert_nops_and_compare(program, ++seed);
    move_a_block_and_compare(program, seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

std::vector<std::string> aiter(std::string_view processor) {
  auto files = samples::files("aiter", ".co");
  std::erase_if(files, [&](const std::string& file) { return file.find(processor) == std::string::npos; });
  return files;
}

TEST(Corpus, TritonObjectsSurviveTripsAndEdits) { expect_to_survive(samples::files("triton", ".hsaco")); }
TEST(Corpus, RelocatableMi300aObjectsSurviveTripsAndEdits) {
  expect_to_survive(samples::files("mi300a/objects", ".hsaco"));
}
TEST(Corpus, TracedObjectsSurviveTripsAndEdits) { expect_to_survive(samples::files("sqtt_gfx950", ".hsaco")); }
TEST(Corpus, HandWrittenAiterObjectsForGfx942SurviveTripsAndEdits) { expect_to_survive(aiter("/gfx942/")); }
TEST(Corpus, HandWrittenAiterObjectsForGfx950SurviveTripsAndEdits) { expect_to_survive(aiter("/gfx950/")); }

TEST(Corpus, ObjectsOfTheQuickStartSurviveTripsAndEdits) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(ASMEVO_SOURCE_DIR "/corpus"))
    if (entry.path().extension() == ".hsaco") files.push_back(entry.path().string());
  ASSERT_FALSE(files.empty());
  expect_to_survive(files);
}

} // namespace
} // namespace asmevo::recover
