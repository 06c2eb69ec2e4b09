// A workspace on the small kernel that wastes time, with its tools.
#pragma once

#include "agent/json_schema.h"
#include "agent/tool_table.h"
#include "gate/slow_kernel.h"

namespace asmevo::agent::testing {

using nlohmann::json;

class WorkspaceTest : public gate::testing::SlowKernel {
protected:
  void SetUp() override {
    SlowKernel::SetUp();
    open_workspace(100);
  }
  void TearDown() override {
    workspace.reset();
    lineage.reset();
    SlowKernel::TearDown();
  }

  void open_workspace(int64_t evaluations) {
    workspace.reset();
    lineage.reset();
    const std::string run = directory + "/run";
    std::filesystem::remove_all(run);
    const search::RunInfo info{.original_hash = original.hash,
                               .kernel = original.kernel,
                               .driver = "test",
                               .output_path = directory + "/out.hsaco",
                               .budget_evaluations = evaluations};
    auto created = search::Lineage::create(
        run, info, {.artifact = original.hash, .listing = recover::print_listing(original.program, false)}, k0->bytes);
    ASSERT_TRUE(created) << created.error().message;
    lineage.emplace(*std::move(created));
    open_again();
  }
  void open_again() {
    workspace.reset();
    auto opened = Workspace::open({.lineage = *lineage,
                                   .original = original,
                                   .codec = gate::testing::codec(),
                                   .device = *device,
                                   .loaded = *device->load(k0),
                                   .launch = reference->launch(),
                                   .policy = oracle::default_policy(),
                                   .settings = {},
                                   .driver = "test",
                                   .stop = &stop});
    ASSERT_TRUE(opened) << opened.error().message;
    workspace = *std::move(opened);
  }

  static const ToolEntry& tool(std::string_view name) {
    return **std::ranges::find(all_tools(), name, [](const ToolEntry* entry) { return entry->name; });
  }
  /// The result of a call whose arguments and result conform to the tool's schemas.
  Result<json> call(std::string_view name, const json& arguments = json::object()) {
    const ToolEntry& entry = tool(name);
    if (auto fault = fault_of(arguments, entry.input(), "arguments")) return fail("{}", *fault);
    auto result = entry.call(*workspace, arguments, [](std::string_view) {});
    if (result) {
      auto fault = fault_of(*result, entry.output(), "");
      EXPECT_FALSE(fault) << name << ": " << *fault << "\n" << result->dump();
    }
    return result;
  }
  json good(std::string_view name, const json& arguments = json::object()) {
    auto result = call(name, arguments);
    EXPECT_TRUE(result) << name << ": " << result.error().message;
    return result ? *result : json();
  }
  std::string bad(std::string_view name, const json& arguments) {
    auto result = call(name, arguments);
    EXPECT_FALSE(result) << result->dump();
    return result ? "" : result.error().message;
  }
  /// An edit of items [first, last) of a version, with the right hash.
  json edit_of(size_t first, size_t last, std::string text, int64_t version = 0) {
    const json window = good("disassemble", {{"version", version}, {"first", first}, {"last", last}});
    return {{"first", first}, {"last", last}, {"base_hash", window["base_hash"]}, {"text", std::move(text)}};
  }
  json propose(json edit, int64_t version = 0) {
    return good("propose", {{"version", version}, {"edits", json::array({std::move(edit)})}});
  }

  std::optional<search::Lineage> lineage;
  std::unique_ptr<Workspace> workspace;
  volatile bool stop = false;
};

} // namespace asmevo::agent::testing
