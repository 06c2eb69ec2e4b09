// inspect: what a code object is, without looking at its instructions; with --loops, where its kernels spend their
// time; with --addresses, where their memory instructions go.
#include "analysis/loops.h"
#include "cli/address_view.h"
#include "cli/declared.h"
#include "cli/options.h"
#include "recover/recover.h"
#include "report/json.h"
#include "report/text.h"

namespace asmevo::cli {
namespace {

using report::json;

struct Options : Common {
  std::string file;
  bool loops = false, addresses = false;
};

struct KernelView {
  const object::Kernel& kernel;
  Declared declared;
};

unsigned code_object_version(const object::CodeObject& object) { return object.abi_version + 2u; }

std::string argument_text(const object::KernelArgument& argument) {
  std::string name = argument.name.empty() ? "" : " " + argument.name;
  std::string type = argument.type_name.empty() ? "" : " (" + argument.type_name + ")";
  return fmt::format("    +{:<4} {:>3} bytes  {}{}{}\n", argument.offset, argument.size, argument.value_kind, name,
                     type);
}

std::string kernel_text(const KernelView& v) {
  const object::Kernel& kernel = v.kernel;
  const isa::Resources& r = v.declared.resources;
  report::Rows rows = {
      {"  entry", fmt::format("0x{:x}, {} bytes", kernel.entry_address, report::grouped(kernel.code_size))},
      {"  registers", fmt::format("{} VGPR, {} AGPR, {} SGPR (declared)", r.vgprs, r.agprs, r.sgprs)},
      {"  memory", fmt::format("{} bytes of LDS, {} bytes of scratch a work-item", report::grouped(r.lds_bytes),
                               report::grouped(r.scratch_bytes))},
      {"  occupancy",
       fmt::format("{} waves a SIMD at {} work-items a workgroup (limit: {})", v.declared.occupancy.waves_per_simd,
                   v.declared.workgroup_size, v.declared.occupancy.limiter)},
      {"  kernarg", fmt::format("{} bytes", kernel.descriptor.kernarg_size())},
  };
  std::string out = fmt::format("\nkernel {}\n{}", kernel.name, report::table(rows));
  if (!kernel.metadata) return out + "    no metadata\n";
  for (const object::KernelArgument& argument : kernel.metadata->args) out += argument_text(argument);
  return out;
}

json kernel_json(const KernelView& v) {
  json arguments = json::array();
  if (v.kernel.metadata)
    for (const object::KernelArgument& a : v.kernel.metadata->args)
      arguments.push_back({{"name", a.name},
                           {"type_name", a.type_name},
                           {"value_kind", a.value_kind},
                           {"address_space", a.address_space},
                           {"offset", a.offset},
                           {"size", a.size}});
  json document = to_json(v.declared);
  document.update({{"name", v.kernel.name},
                   {"entry_address", v.kernel.entry_address},
                   {"code_size", v.kernel.code_size},
                   {"kernarg_size", v.kernel.descriptor.kernarg_size()},
                   {"has_metadata", v.kernel.metadata.has_value()},
                   {"arguments", std::move(arguments)}});
  return document;
}

struct LoopView {
  std::string label;
  uint64_t address = 0; // of the first instruction
  size_t instructions = 0;
  analysis::Loop loop;
};

std::vector<LoopView> loops_of(const recover::Program& program, const recover::Function& function) {
  const analysis::Graph graph = analysis::control_flow(program, function);
  std::vector<LoopView> views;
  for (analysis::Loop& loop : analysis::loops(program, function, graph)) {
    LoopView view;
    for (uint32_t b : loop.blocks)
      for (size_t i = graph.blocks[b].first; i < graph.blocks[b].last; ++i) {
        const recover::Item& item = program.items[i];
        if (b == loop.header && item.kind == recover::ItemKind::label && view.label.empty()) view.label = item.text;
        if (!analysis::is_instruction(item)) continue;
        if (b == loop.header && view.address == 0) view.address = uint64_t(item.origin);
        ++view.instructions;
      }
    view.loop = std::move(loop);
    views.push_back(std::move(view));
  }
  return views;
}

std::string loops_text(const std::vector<LoopView>& views) {
  if (views.empty()) return "    no loops\n";
  std::string out;
  for (const LoopView& v : views)
    out += fmt::format("    {}loop {} at 0x{:x}: {} instructions, {}\n", std::string(2 * (v.loop.depth - 1), ' '),
                       v.label, v.address, v.instructions,
                       v.loop.iterations ? fmt::format("{} iterations", report::grouped(*v.loop.iterations))
                                         : "iterations not in the code");
  return out;
}

json loops_json(const std::vector<LoopView>& views) {
  json document = json::array();
  for (const LoopView& v : views) {
    document.push_back(
        {{"label", v.label}, {"address", v.address}, {"instructions", v.instructions}, {"depth", v.loop.depth}});
    if (v.loop.iterations) document.back()["iterations"] = *v.loop.iterations;
  }
  return document;
}

Result<ExitStatus> run(const Options& options) {
  AE_TRY(Input input, open_input(options.file));
  const object::CodeObject& object = *input.object;
  const isa::Target& target = input.codec.target();
  std::string text = fmt::format("{}: {}, code object v{}, {} bytes\n", object.path, isa::target_id(target),
                                 code_object_version(object), report::grouped(object.bytes.size()));
  json kernels = json::array(), sections = json::array();
  std::optional<recover::Program> program;
  if (options.loops || options.addresses) {
    AE_TRY(program, recover::recover(input.object, input.codec));
  }
  for (size_t k = 0; k < object.kernels.size(); ++k) {
    KernelView v{object.kernels[k], declared_by(object.kernels[k], target)};
    text += kernel_text(v);
    kernels.push_back(kernel_json(v));
    if (!program) continue;
    for (const recover::Function& function : program->functions) {
      if (function.kernel != int(k)) continue;
      if (options.loops) {
        const std::vector<LoopView> views = loops_of(*program, function);
        text += loops_text(views);
        kernels.back()["loops"] = loops_json(views);
      }
      if (options.addresses) {
        AddressView view = addresses_of(*program, function);
        text += view.text;
        kernels.back()["addresses"] = std::move(view.json);
      }
    }
  }
  for (const object::Section& section : object.sections)
    if (!section.name.empty())
      sections.push_back(
          {{"name", section.name}, {"address", section.address}, {"offset", section.offset}, {"size", section.size}});
  return answer(options, text,
                {{"file", object.path},
                 {"target", isa::target_id(target)},
                 {"code_object_version", code_object_version(object)},
                 {"bytes", object.bytes.size()},
                 {"kernels", std::move(kernels)},
                 {"sections", std::move(sections)}});
}

} // namespace

const Verb inspect_verb = {
    "inspect", "show target, kernels, resources and arguments of a code object",
    "  asmevo inspect softmax.hsaco --loops\n  asmevo inspect softmax.hsaco --addresses\n  asmevo inspect "
    "softmax.hsaco "
    "--json\n",
    [](CLI::App& app) {
      return declare<Options>(
          app,
          [](CLI::App& a, Options& o) {
            file_option(a, o.file);
            a.add_flag("--loops", o.loops, "loops of each kernel, with how often they run where the code says so");
            a.add_flag("--addresses", o.addresses,
                       "base, offset, alignment and lane stride of each memory instruction of each kernel");
          },
          run);
    }};

} // namespace asmevo::cli
