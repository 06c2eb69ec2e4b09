// The tools of a workspace, one row each.
#pragma once

#include "agent/mcp_server.h"
#include "agent/workspace.h"

#include <span>

namespace asmevo::agent {

struct ToolEntry {
  std::string_view name, title, description;
  nlohmann::json (*input)();
  nlohmann::json (*output)();
  bool read_only;
  Result<nlohmann::json> (*call)(Workspace& workspace, const nlohmann::json& arguments, const Progress& progress);
};

extern const ToolEntry inspect_tool, windows_tool, disassemble_tool, lookup_isa_tool, propose_tool, check_tool,
    verify_tool, time_tool, profile_tool, lineage_tool, diff_tool, checkout_tool, search_memory_tool, occupancy_tool,
    status_tool;

std::span<const ToolEntry* const> all_tools();

/// "version" of the arguments, where it is there.
std::optional<int64_t> version_in(const nlohmann::json& arguments);
/// "edits" of the arguments.
std::vector<WindowEdit> edits_in(const nlohmann::json& arguments);
/// Of one workgroup.
uint32_t work_items(const launch::Case& c);

/// The tools for a server. `open` is asked for the workspace by the first call that is made, and again where it failed.
std::vector<Tool> tools_on(std::function<Result<Workspace*>(const Progress&)> open);

/// What a server tells a model before anything else.
std::string_view instructions();

} // namespace asmevo::agent
