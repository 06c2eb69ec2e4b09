// isa: which instructions of a target, or of a code object, the simulated machine executes, and how exactly.
#include "cli/options.h"
#include "machine/coverage.h"
#include "recover/recover.h"

#include <map>

namespace asmevo::cli {
namespace {

struct Options : Common {
  std::string file, target = "gfx942";
  bool coverage = false;
};

constexpr std::string_view support_names[] = {"exact", "approximate", "unsupported"};

/// Mnemonics with how often they occur: 0 where there is no file to count in.
using Counts = std::map<std::string, size_t>;

Result<Counts> used_in(const Input& input) {
  AE_TRY(recover::Program program, recover::recover(input.object, input.codec));
  Counts counts;
  for (const recover::Item& item : program.items)
    if (item.kind == recover::ItemKind::instruction) ++counts[std::string(isa::name_of(item.instruction))];
  return counts;
}

/// The whole instruction set where nothing is counted.
Result<ExitStatus> list(const Options& options, const std::map<std::string, machine::Support>& known,
                        const Counts& counts, isa::Processor processor) {
  std::array<size_t, std::size(support_names)> totals{};
  std::string text;
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& [mnemonic, count] : counts) {
    const auto found = known.find(mnemonic);
    const size_t support = size_t(found == known.end() ? machine::Support::unsupported : found->second);
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
    AE_TRY(const isa::Codec codec, isa::Codec::create({.processor = processor}));
    const auto known = machine::coverage(codec);
    Counts counts;
    for (const auto& [mnemonic, support] : known) counts.emplace(mnemonic, 0);
    return list(options, known, counts, processor);
  }
  AE_TRY(Input input, open_input(options.file));
  AE_TRY(Counts counts, used_in(input));
  return list(options, machine::coverage(input.codec), counts, input.codec.target().processor);
}

} // namespace

const Verb isa_verb = {
    "isa", "list the instructions that the simulated machine executes, exactly or approximately",
    "  asmevo isa --coverage --target gfx942\n  asmevo isa softmax.hsaco\n", [](CLI::App& app) {
      return declare<Options>(
          app,
          [](CLI::App& a, Options& o) {
            a.add_option("FILE", o.file, "list what this code object uses")->type_name("");
            a.add_flag("--coverage", o.coverage,
                       "list the target's whole instruction set (what happens without a file)");
            a.add_option("--target", o.target, "processor, without a file")->type_name("NAME")->capture_default_str();
          },
          run);
    }};

} // namespace asmevo::cli
