// inspect: what a code object is, without looking at its instructions.
#include "cli/declared.h"
#include "cli/options.h"
#include "report/json.h"
#include "report/text.h"

namespace asmevo::cli {
namespace {

using report::json;

struct Options : Common {
  std::string file;
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

Result<ExitStatus> run(const Options& options) {
  AE_TRY(Input input, open_input(options.file));
  const object::CodeObject& object = *input.object;
  const isa::Target& target = input.codec.target();
  std::string text = fmt::format("{}: {}, code object v{}, {} bytes\n", object.path, isa::target_id(target),
                                 code_object_version(object), report::grouped(object.bytes.size()));
  json kernels = json::array(), sections = json::array();
  for (const object::Kernel& kernel : object.kernels) {
    KernelView v{kernel, declared_by(kernel, target)};
    text += kernel_text(v);
    kernels.push_back(kernel_json(v));
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
    "  asmevo inspect softmax.hsaco\n  asmevo inspect softmax.hsaco --json\n",
    [](CLI::App& app) { return declare<Options>(app, [](CLI::App& a, Options& o) { file_option(a, o.file); }, run); }};

} // namespace asmevo::cli
