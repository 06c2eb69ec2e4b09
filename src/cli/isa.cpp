// isa: which instructions the simulated machine knows, and how exactly.
#include "cli/options.h"
#include "machine/registry.h"
#include "recover/recover.h"

#include <map>
#include <set>

namespace asmevo::cli {
namespace {

struct Options : Common {
  std::string file, target = "gfx942";
};

constexpr std::string_view support_names[] = {"exact", "approximate", "unsupported"};

/// Mnemonics with how often they occur: 0 where there is no file to count in.
using Counts = std::map<std::string, size_t>;

Counts all_of(isa::Processor processor) {
  Counts counts;
  for (std::span<const machine::InstructionRow> rows : machine::all_rows())
    for (const machine::InstructionRow& row : rows)
      if (row.targets & machine::bit(processor)) counts.emplace(row.mnemonic, 0);
  return counts;
}

Result<Counts> used_in(const Input& input) {
  AE_TRY(recover::Program program, recover::recover(input.object, input.codec));
  Counts counts;
  for (const recover::Item& item : program.items)
    if (item.kind == recover::ItemKind::instruction) ++counts[std::string(isa::name_of(item.instruction))];
  return counts;
}

Result<ExitStatus> list(const Options& options, const Counts& counts, isa::Processor processor) {
  std::array<size_t, std::size(support_names)> totals{};
  std::string text;
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& [mnemonic, count] : counts) {
    size_t support = size_t(machine::support_of(mnemonic, processor));
    ++totals[support];
    text +=
        fmt::format("{:<36} {:<12}{}\n", mnemonic, support_names[support], count ? fmt::format(" {:>6}", count) : "");
    rows.push_back({{"mnemonic", mnemonic}, {"support", support_names[support]}});
    if (count) rows.back()["count"] = count;
  }
  text += fmt::format("{}: {} exact, {} approximate, {} unsupported\n",
                      options.file.empty() ? isa::processor_name(processor) : std::string_view(options.file), totals[0],
                      totals[1], totals[2]);
  return answer(options, text,
                {{"target", isa::processor_name(processor)},
                 {"exact", totals[0]},
                 {"approximate", totals[1]},
                 {"unsupported", totals[2]},
                 {"instructions", std::move(rows)}});
}

Result<ExitStatus> run(const Options& options) {
  if (options.file.empty()) {
    AE_TRY(isa::Processor processor, isa::processor_from_name(options.target));
    return list(options, all_of(processor), processor);
  }
  AE_TRY(Input input, open_input(options.file));
  AE_TRY(Counts counts, used_in(input));
  return list(options, counts, input.codec.target().processor);
}

} // namespace

const Verb isa_verb = {
    "isa", "list the instructions that the simulated machine executes, exactly or approximately",
    "  asmevo isa --target gfx942\n  asmevo isa softmax.hsaco\n", [](CLI::App& app) {
      return declare<Options>(
          app,
          [](CLI::App& a, Options& o) {
            a.add_option("FILE", o.file, "list what this code object uses")->type_name("");
            a.add_option("--target", o.target, "processor, without a file")->type_name("NAME")->capture_default_str();
          },
          run);
    }};

} // namespace asmevo::cli
