// What an instruction is, as far as the tables of this program know.
#include "agent/paging.h"
#include "agent/tool_table.h"
#include "agent/tools/shapes.h"
#include "analysis/hazards.h"
#include "analysis/resources.h"
#include "isa/counters.h"
#include "isa/opcodes.h"
#include "machine/coverage.h"
#include "timing/device_table.h"
#include "timing/op_class.h"

namespace asmevo::agent {
namespace {

using nlohmann::json;
using timing::OpClass;

constexpr std::array<std::string_view, 24> encoding_names = {
    "sop1", "sop2", "sopk", "sopc",   "sopp",    "smem",  "vop1",  "vop2",    "vopc", "vop3a", "vop3b",  "vop3p",
    "mai",  "ds",   "flat", "global", "scratch", "mubuf", "mtbuf", "vop3px2", "mimg", "exp",   "vintrp", "unknown"};
constexpr std::array<std::string_view, 7> category_names = {"valu",   "vmem",    "scalar",  "lds",
                                                            "branch", "message", "internal"};
constexpr std::array<std::string_view, 3> support_names = {"exact", "approximate", "unsupported"};

/// The parameters of the timing model that price a class.
struct ClassRow {
  OpClass op;
  std::string_view name;
  std::vector<std::string_view> parameters;
};
const std::array<ClassRow, 22> classes = {{
    {OpClass::valu, "valu", {"valu_dependent"}},
    {OpClass::valu_fma, "valu_fma", {"valu_fma_dependent"}},
    {OpClass::valu_f64, "valu_f64", {"valu_f64_issue", "valu_f64_dependent"}},
    {OpClass::valu_trans, "valu_trans", {"valu_trans_issue", "valu_trans_dependent"}},
    {OpClass::valu_convert, "valu_convert", {"valu_convert_issue", "valu_dependent"}},
    {OpClass::valu_multiply, "valu_multiply", {"valu_multiply_issue", "valu_dependent"}},
    {OpClass::valu_wide, "valu_wide", {"valu_wide_issue", "valu_dependent"}},
    {OpClass::mfma, "mfma", {"mfma_result", "mfma_gap"}},
    {OpClass::salu, "salu", {"salu_dependent"}},
    {OpClass::smem, "smem", {"scalar_hit", "scalar_miss_extra"}},
    {OpClass::vmem, "vmem", {"valu_to_memory", "l1_latency", "l2_latency", "mall_latency", "hbm_latency"}},
    {OpClass::lds, "lds", {"valu_to_memory", "lds_latency", "lds_write_latency"}},
    {OpClass::flat, "flat", {"valu_to_memory", "l1_latency", "l2_latency", "hbm_latency"}},
    {OpClass::lds_permute, "lds_permute", {"lds_permute"}},
    {OpClass::branch, "branch", {"branch_taken", "branch_not_taken"}},
    {OpClass::waitcnt, "waitcnt", {}},
    {OpClass::nop, "nop", {}},
    {OpClass::sleep, "sleep", {}},
    {OpClass::barrier, "barrier", {"barrier_release"}},
    {OpClass::end, "end", {}},
    {OpClass::message, "message", {"message"}},
    {OpClass::priority, "priority", {}},
}};

json input() {
  return shape::object(
      {{"mnemonic",
        shape::text("an exact mnemonic without _e32/_e64, or a part of one: v_add_f32, global_load, dpp", 64)},
       {"offset", shape::offset()},
       {"limit", shape::limit(4, 20)}});
}

json output() {
  const json hazard = shape::object({{"rule", shape::text("id")},
                                     {"role", shape::choice("of this instruction", {"first", "second"})},
                                     {"what", shape::text("what must not follow too soon")}});
  const json latency = shape::object({{"parameter", shape::text("of the device's table")},
                                      {"meaning", shape::text("what it is")},
                                      {"value", shape::number("nominal")},
                                      {"error", shape::number("half width of its error bar")},
                                      {"unit", shape::text("of both")}});
  const json instruction = shape::object(
      {{"mnemonic", shape::text("without suffix")},
       {"forms",
        shape::list("encodings, each with an example of its operands",
                    shape::object({{"encoding", shape::text("its name")}, {"example", shape::text("as assembly")}}))},
       {"execution", shape::choice("by the simulated machine", support_names)},
       {"unit", shape::choice("what issues it", category_names)},
       {"class", shape::text("what its latency goes by")},
       {"implicit_reads", shape::list("registers beside its operands", shape::text("vcc_lo, exec_lo, scc, m0"))},
       {"implicit_writes", shape::list("registers beside its operands", shape::text("vcc_lo, scc"))},
       {"counters", shape::object({{"vmcnt", shape::count("it adds")},
                                   {"lgkmcnt", shape::count("it adds")},
                                   {"expcnt", shape::count("it adds")},
                                   {"out_of_order", shape::flag("only lgkmcnt(0) says that it is done")}})},
       {"traits", shape::list("what it is", shape::text("load, store, barrier, ..."))},
       {"passes", shape::count("of 4 clocks, of a matrix instruction; else 0")},
       {"latency", shape::list("of the device", latency)},
       {"hazards", shape::list("pairs that need wait states between; auto_waits puts them in", hazard)},
       {"restriction", shape::text("why a candidate may only have it where the original has it; else empty")}});
  json properties = {{"instructions", shape::list("that fit, exact matches first", instruction)}};
  shape::add_page(properties);
  return shape::object(std::move(properties));
}

/// All opcodes of one mnemonic.
struct Opcode {
  std::string mnemonic;
  std::vector<isa::Instruction> forms;
};

/// Those whose mnemonic is `wanted`, then those in which it occurs.
std::vector<Opcode> find(const isa::Codec& codec, const std::string& wanted) {
  std::map<std::pair<bool, std::string>, std::vector<isa::Instruction>> found;
  for (isa::Instruction& i : isa::every_opcode(codec)) {
    const std::string name(isa::name_of(i));
    if (name.find(wanted) != std::string::npos) found[{name != wanted, name}].push_back(std::move(i));
  }
  std::vector<Opcode> opcodes;
  for (auto& [key, forms] : found) opcodes.push_back({key.second, std::move(forms)});
  return opcodes;
}

json implicit(const std::vector<isa::RegisterRange>& ranges, size_t explicit_ones) {
  json names = json::array();
  for (size_t i = std::min(explicit_ones, ranges.size()); i < ranges.size(); ++i)
    names.push_back(analysis::register_name(analysis::bit_of(ranges[i].file, ranges[i].first)));
  return names;
}

json traits_json(const isa::Traits& t) {
  const std::pair<bool, std::string_view> known[] = {{t.branch, "branch"},
                                                     {t.conditional, "conditional"},
                                                     {t.terminator, "terminator"},
                                                     {t.barrier, "barrier"},
                                                     {t.waitcnt, "waitcnt"},
                                                     {t.salu, "salu"},
                                                     {t.valu, "valu"},
                                                     {t.mfma, "mfma"},
                                                     {t.smem, "smem"},
                                                     {t.vmem, "vmem"},
                                                     {t.lds, "lds"},
                                                     {t.flat, "flat"},
                                                     {t.may_load, "load"},
                                                     {t.may_store, "store"},
                                                     {t.atomic, "atomic"},
                                                     {t.returns, "returns"},
                                                     {t.side_effects, "side_effects"}};
  json names = json::array();
  for (const auto& [is, name] : known)
    if (is) names.push_back(name);
  return names;
}

const timing::DeviceTable& device_of(const Workspace& workspace) {
  const auto named = timing::device_named(workspace.setup().lineage.info().device_part);
  return named ? **named : timing::device_for(workspace.setup().codec.target().processor);
}

json latency_json(const ClassRow& row, const timing::DeviceTable& device) {
  json out = json::array();
  for (std::string_view name : row.parameters)
    for (size_t p = 0; p < timing::parameter_count; ++p) {
      const timing::ParameterInfo& info = timing::parameter_info[p];
      if (info.name != name) continue;
      const timing::Parameter parameter = timing::parameter_of(device, p);
      out.push_back({{"parameter", name},
                     {"meaning", info.meaning},
                     {"value", parameter.value},
                     {"error", parameter.error},
                     {"unit", info.unit}});
    }
  return out;
}

json hazards_json(const isa::Instruction& instruction, isa::Processor processor) {
  json out = json::array();
  const analysis::Class kinds = analysis::Classifier(processor)(instruction);
  for (const analysis::HazardRule& rule : analysis::hazard_rules()) {
    if ((rule.processors & 1u << unsigned(processor)) == 0) continue;
    if (kinds.is(rule.producer)) out.push_back({{"rule", rule.id}, {"role", "first"}, {"what", rule.what}});
    if (kinds.is(rule.consumer)) out.push_back({{"rule", rule.id}, {"role", "second"}, {"what", rule.what}});
  }
  return out;
}

json opcode_json(const Workspace& workspace, const Opcode& opcode,
                 const std::map<std::string, machine::Support>& coverage) {
  const isa::Codec& codec = workspace.setup().codec;
  const isa::Processor processor = codec.target().processor;
  const isa::Instruction& i = opcode.forms.front();
  json forms = json::array();
  for (const isa::Instruction& form : opcode.forms)
    forms.push_back({{"encoding", encoding_names[size_t(form.encoding)]}, {"example", codec.print(form)}});
  const auto support = coverage.find(opcode.mnemonic);
  const OpClass op = timing::classify(i);
  const ClassRow& row = *std::ranges::find(classes, op, &ClassRow::op);
  const isa::CounterEvents events = isa::counter_events(i);
  return {
      {"mnemonic", opcode.mnemonic},
      {"forms", std::move(forms)},
      {"execution", support_names[size_t(support == coverage.end() ? machine::Support::unsupported : support->second)]},
      {"unit", category_names[size_t(timing::category_of(op))]},
      {"class", row.name},
      {"implicit_reads", implicit(i.uses, i.explicit_uses)},
      {"implicit_writes", implicit(i.defs, i.explicit_defs)},
      {"counters",
       {{"vmcnt", events.vmcnt},
        {"lgkmcnt", events.lgkmcnt},
        {"expcnt", events.expcnt},
        {"out_of_order", events.lgkm_out_of_order}}},
      {"traits", traits_json(i.traits)},
      {"passes", i.traits.mfma ? timing::mfma_shape(i, processor).passes : 0},
      {"latency", latency_json(row, device_of(workspace))},
      {"hazards", hazards_json(i, processor)},
      {"restriction", analysis::restriction(opcode.mnemonic)}};
}

Result<json> call(Workspace& workspace, const json& arguments, const Progress& progress) {
  progress("reading the instruction tables");
  const isa::Codec& codec = workspace.setup().codec;
  const std::string wanted = arguments["mnemonic"];
  const std::vector<Opcode> opcodes = find(codec, wanted);
  if (opcodes.empty())
    return fail("{}: no instruction of {} is called so", bounded(wanted, longest_name),
                isa::processor_name(codec.target().processor));
  const auto coverage = machine::coverage(codec);
  json document;
  put_page(document, "instructions", page_of(arguments, 4), opcodes.size(),
           [&](size_t at) { return opcode_json(workspace, opcodes[at], coverage); });
  return document;
}

} // namespace

const ToolEntry lookup_isa_tool = {"lookup_isa",
                                   "Look up an instruction",
                                   "What the tables know of an instruction of this target: encodings with operands, "
                                   "implicit registers, wait counters, "
                                   "hazards, latency class with the device's figures, how exactly it is simulated.",
                                   input,
                                   output,
                                   true,
                                   call};

} // namespace asmevo::agent
