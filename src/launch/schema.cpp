// From the text of a launch file to cases with every number resolved; the parts of a case are read in schema/.
#include "launch/capture.h"
#include "launch/kerncap.h"
#include "launch/schema/case_builder.h"

#include "support/file.h"
#include "support/hash.h"
#include "support/json.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace asmevo::launch {

namespace {

constexpr size_t most_cases = 10'000;
constexpr std::string_view override_keys[] = {"seed",        "sizes",   "workgroups", "work_items", "workgroup_size",
                                              "dynamic_lds", "buffers", "arguments",  "tolerance",  "name"};
constexpr std::string_view launch_keys[] = {"seed",           "sizes",       "workgroups", "work_items",
                                            "workgroup_size", "dynamic_lds", "buffers",    "arguments",
                                            "tolerance",      "kernel",      "cases"};
constexpr std::string_view roles[] = {"in", "out", "inout", "scratch"};

Result<Case> build_case(const JsonView& launch, const std::optional<JsonView>& overrides, size_t index,
                        const std::string& directory) {
  SizeTable table;
  if (launch.has("sizes")) AE_CHECK(table.add(launch.at("sizes")));
  if (overrides && overrides->has("sizes")) AE_CHECK(table.add(overrides->at("sizes")));
  AE_TRY(Sizes sizes, table.resolve());
  CaseBuilder builder(std::move(sizes), directory);
  builder.result.name = overrides ? fmt::format("case {}", index) : "default";
  builder.result.where = (overrides ? *overrides : launch).where();
  AE_CHECK(builder.apply(launch, false));
  if (overrides) {
    builder.result.seed += index; // unless it has its own
    if (overrides->has("name")) {
      AE_TRY(builder.result.name, overrides->at("name").string("\"name\""));
    }
    AE_CHECK(builder.apply(*overrides, true));
  }
  return builder.finish(launch);
}

/// Everything that decides what runs, in one canonical text; places and names of cases do not.
Result<std::string> content_hash(const Launch& launch) {
  std::string text = "kernel " + launch.kernel + "\n";
  for (const Case& c : launch.cases) {
    text += fmt::format("case {} {} {} {} {}\n", c.seed, fmt::join(c.workgroups, " "), fmt::join(c.work_items, " "),
                        fmt::join(c.workgroup_size, " "), c.dynamic_lds);
    for (const Argument& a : c.arguments)
      text += fmt::format("argument {} {} {:?} {} {} {:02x}\n", a.offset, a.size, a.buffer, a.buffer_offset,
                          a.null_pointer, fmt::join(a.value, ""));
    for (const Buffer& b : c.buffers) {
      text += fmt::format("buffer {:?} {} {} {} {} {:a} {:a}\n", b.name, name_of(b.dtype), fmt::join(b.shape, " "),
                          name_of(b.role), int(b.fill.kind), b.fill.a, b.fill.b);
      for (const PointerTo& to : b.fill.pointers) text += fmt::format("pointer {:?} {}\n", to.buffer, to.offset);
      if (b.fill.path.empty()) continue;
      AE_TRY(Bytes content, read_file(b.fill.path));
      text += "file " + sha256_hex(content) + "\n";
    }
    for (auto& [name, t] : c.tolerance)
      text += fmt::format("tolerance {:?} {:a} {:a} {:a} {:a}\n", name, t.absolute, t.relative, t.scaled, t.cosine);
  }
  return sha256_hex(text);
}

} // namespace

Result<void> CaseBuilder::apply(const JsonView& object, bool overriding) {
  overriding_ = overriding;
  if (object.has("seed")) {
    AE_TRY(result.seed, object.at("seed").unsigned_integer("\"seed\""));
  }
  AE_CHECK(grid(object));
  if (object.has("buffers")) AE_CHECK(buffers(object.at("buffers")));
  if (object.has("arguments")) AE_CHECK(arguments(object.at("arguments")));
  if (object.has("tolerance")) AE_CHECK(tolerances(object.at("tolerance")));
  return {};
}

Result<Case> CaseBuilder::finish(const JsonView& launch) {
  if (result.where_workgroups.empty()) return launch.fail("the launch needs \"workgroups\"");
  if (result.where_workgroup_size.empty()) return launch.fail("the launch needs \"workgroup_size\"");
  if (result.where_arguments.empty()) return launch.fail("the launch needs \"arguments\"");
  AE_CHECK(check_grid());
  AE_CHECK(check_buffers());
  AE_CHECK(place_arguments());
  AE_CHECK(check_tolerances());
  return std::move(result);
}

std::optional<Role> role_from_name(std::string_view name) {
  auto found = std::ranges::find(roles, name);
  if (found == std::end(roles)) return std::nullopt;
  return Role(found - roles);
}

std::span<const std::string_view> role_names() { return roles; }
std::string_view name_of(Role role) { return roles[size_t(role)]; }

uint64_t Buffer::elements() const {
  uint64_t product = 1;
  for (uint64_t n : shape) product *= n;
  return product;
}

const Buffer* Case::buffer(std::string_view wanted) const {
  auto found = std::ranges::find(buffers, wanted, &Buffer::name);
  return found == buffers.end() ? nullptr : &*found;
}

Result<Launch> parse_launch(std::string_view text, const std::string& path) {
  AE_TRY(auto document, parse_json(text, path));
  JsonView root(document);
  AE_CHECK(root.expect_keys("the launch", launch_keys));
  Launch launch;
  launch.path = path;
  if (root.has("kernel")) {
    AE_TRY(launch.kernel, root.at("kernel").string("\"kernel\""));
  }
  std::string directory = std::filesystem::path(path).parent_path().string();
  if (!root.has("cases")) {
    AE_TRY(Case only, build_case(root, std::nullopt, 0, directory));
    launch.cases.push_back(std::move(only));
  } else {
    JsonView cases = root.at("cases");
    AE_CHECK(cases.expect_array("\"cases\""));
    if (cases.size() == 0 || cases.size() > most_cases)
      return cases.fail("\"cases\" must have 1 to {} cases", most_cases);
    std::set<std::string> names;
    for (size_t i = 0; i < cases.size(); ++i) {
      AE_CHECK(cases.at(i).expect_keys(fmt::format("case {}", i), override_keys));
      AE_TRY(Case next, build_case(root, cases.at(i), i, directory));
      if (!names.insert(next.name).second) return cases.at(i).fail("an earlier case is also named \"{}\"", next.name);
      launch.cases.push_back(std::move(next));
    }
  }
  for (Case& c : launch.cases) c.kernel = launch.kernel;
  AE_TRY(launch.hash, content_hash(launch));
  return launch;
}

bool Case::is_fixed() const {
  return std::ranges::any_of(buffers, [](const Buffer& b) { return b.address.has_value(); });
}

Result<Launch> read_launch(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return is_kerncap(path) ? read_kerncap(path) : read_capture(path);
  AE_TRY(std::string text, read_text_file(path, uint64_t{64} << 20));
  return parse_launch(text, path);
}

} // namespace asmevo::launch
