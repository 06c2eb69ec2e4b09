// What is worked on: the kernel, its launch, its resources, and what is known of the original.
#include "agent/paging.h"
#include "agent/tool_table.h"
#include "agent/tools/shapes.h"
#include "isa/resources_json.h"

namespace asmevo::agent {
namespace {

using nlohmann::json;

constexpr size_t most_rows = 200; // of arguments, notes and findings

json input() { return shape::object(json::object()); }

json output() {
  const json argument = shape::object({{"name", shape::text("as metadata has it")},
                                       {"value_kind", shape::text("global_buffer, by_value, hidden_...")},
                                       {"offset", shape::count("in the kernarg segment")},
                                       {"size", shape::count("bytes")}});
  return shape::object(
      {{"file", shape::text("the original")},
       {"sha256", shape::text("of the original")},
       {"target", shape::text("target id")},
       {"device", shape::text("what runs and times candidates")},
       {"kernel", shape::text("its name: data, not an instruction")},
       {"first", shape::count("first item of the kernel in the original's listing")},
       {"last", shape::count("the item behind its last")},
       {"instructions", shape::count("of the kernel")},
       {"fixed_size", shape::text("why edits must keep the size of the code; empty where they need not")},
       {"declared", shape::amounts("resources of the kernel descriptor")},
       {"occupancy", shape::amounts("with the launch's workgroup")},
       {"workgroups", shape::list("grid of the timed case", shape::count("along one dimension"))},
       {"workgroup_size", shape::list("work-items", shape::count("along one dimension"))},
       {"dynamic_lds", shape::count("bytes")},
       {"cases", shape::list("cases every candidate is verified on; the first is timed", shape::text("name"))},
       {"arguments", shape::list("of the kernel", argument)},
       {"notes", shape::list("facts about the original and the policy", shape::text("a fact"))},
       {"findings", shape::list("what static rules say of the original; a candidate may not add to it",
                                shape::text("rule and message"))}});
}

json arguments_of(const object::CodeObject& object, const std::string& kernel) {
  json arguments = json::array();
  for (const object::Kernel& k : object.kernels) {
    if (k.name != kernel || !k.metadata) continue;
    for (const object::KernelArgument& a : k.metadata->args)
      if (arguments.size() < most_rows)
        arguments.push_back({{"name", bounded(a.name, longest_name)},
                             {"value_kind", bounded(a.value_kind, longest_name)},
                             {"offset", a.offset},
                             {"size", a.size}});
  }
  return arguments;
}

Result<json> call(Workspace& workspace, const json&, const Progress&) {
  const Setup& setup = workspace.setup();
  const gate::Original& original = setup.original;
  AE_TRY(const recover::Function* function, gate::function_of(original.program, original.kernel));
  const launch::Case& c = workspace.timed_case();
  const isa::Resources& declared = original.program.declared[size_t(function->kernel)];
  size_t instructions = 0;
  for (size_t i = function->first; i < function->last; ++i)
    instructions += original.program.items[i].kind == recover::ItemKind::instruction;
  json cases = json::array(), notes = json::array(), findings = json::array();
  for (const launch::Case& one : workspace.reference().launch().cases)
    if (cases.size() < most_rows) cases.push_back(bounded(one.name, longest_name));
  for (const std::string& note : workspace.reference().notes())
    if (notes.size() < most_rows) notes.push_back(bounded(note));
  for (const analysis::Finding& finding : original.findings)
    if (findings.size() < most_rows) findings.push_back(bounded(finding.rule + " " + finding.message));
  return json{{"file", bounded(original.object->path)},
              {"sha256", original.hash},
              {"target", isa::target_id(original.program.target)},
              {"device", setup.device.description()},
              {"kernel", bounded(original.kernel, longest_name)},
              {"first", function->first},
              {"last", function->last},
              {"instructions", instructions},
              {"fixed_size", bounded(original.program.rigid)},
              {"declared", isa::to_json(declared)},
              {"occupancy",
               isa::to_json(isa::occupancy(declared, original.program.target.processor, work_items(c), c.dynamic_lds))},
              {"workgroups", c.workgroups},
              {"workgroup_size", c.workgroup_size},
              {"dynamic_lds", c.dynamic_lds},
              {"cases", std::move(cases)},
              {"arguments", arguments_of(*original.object, original.kernel)},
              {"notes", std::move(notes)},
              {"findings", std::move(findings)}};
}

} // namespace

const ToolEntry inspect_tool = {
    "inspect",
    "Inspect the kernel",
    "The kernel that is worked on: target, resources, occupancy, arguments, launch and cases, and what is known of the "
    "original.",
    input,
    output,
    true,
    call};

} // namespace asmevo::agent
