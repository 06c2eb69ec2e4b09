// build: from a listing back to a code object.
#include "analysis/repair.h"
#include "cli/declared.h"
#include "cli/options.h"
#include "recover/debug.h"
#include "recover/declare.h"
#include "recover/recover.h"
#include "support/hash.h"

namespace asmevo::cli {
namespace {

struct Options : Common {
  std::string listing, like, output, debug = "keep";
  bool auto_waits = false;
};

// Registers and occupancy of each kernel before and after, where they differ.
std::string compare_kernels(const Input& before, const Input& after, nlohmann::json& document) {
  std::string text;
  document["kernels"] = nlohmann::json::array();
  for (const object::Kernel& kernel : before.object->kernels) {
    const object::Kernel* rebuilt = after.object->kernel(kernel.name);
    if (!rebuilt) continue;
    Declared x = declared_by(kernel, before.codec.target()), y = declared_by(*rebuilt, after.codec.target());
    document["kernels"].push_back({{"name", kernel.name}, {"before", to_json(x)}, {"after", to_json(y)}});
    if (to_text(x) != to_text(y))
      text += fmt::format("{}: before: {}\n{}: after:  {}\n", kernel.name, to_text(x), kernel.name, to_text(y));
  }
  return text;
}

void renew_waits(recover::Program& program, const isa::Codec& codec) {
  for (size_t f = 0; f < program.functions.size(); f++) {
    if (program.functions[f].kernel < 0) continue;
    size_t blocks = analysis::control_flow(program, program.functions[f]).blocks.size();
    program = analysis::renewed(std::move(program), f, std::vector<bool>(blocks, true), codec);
  }
}

// What the listing's code asks for and its directives do not say: registers, and waits where they are wanted.
Result<Bytes> completed(Bytes bytes, const Input& like, const Options& options) {
  AE_TRY(Input input, open_input(bytes, options.listing));
  AE_TRY(recover::Program program, recover::recover(input.object, input.codec));
  AE_TRY(recover::Program original, recover::recover(like.object, like.codec));
  auto changed = recover::redeclare_all(original, program);
  if (!changed) return fail("{}: {}", options.listing, changed.error().message);
  if (!*changed && !options.auto_waits) return bytes;
  if (options.auto_waits) renew_waits(program, input.codec);
  auto rebuilt = recover::build(program, input.codec);
  if (!rebuilt) return fail("{}: with the resources that its code needs: {}", options.listing, rebuilt.error().message);
  return *std::move(rebuilt);
}

Result<ExitStatus> run(const Options& options) {
  AE_CHECK(check_writable(options.output));
  AE_TRY(Input like, open_input(options.like));
  AE_TRY(std::string listing, read_text_file(options.listing));
  auto bytes = recover::build(listing, *like.object, like.codec);
  if (!bytes)
    return fail("{}:{}:{}: {}", options.listing, bytes.error().line, bytes.error().column, bytes.error().message);
  AE_TRY(*bytes, completed(*std::move(bytes), like, options));
  if (options.debug == "keep") {
    AE_TRY(recover::DebugKept kept, recover::keep_debug(std::move(*bytes), *like.object));
    bytes = std::move(kept.bytes);
    if (!kept.dropped.empty())
      fmt::print(stderr, "{}: debug information is left out: {}\n", options.output, kept.dropped);
  }
  AE_TRY(Input built, open_input(*bytes, options.output));
  AE_CHECK(write_file(options.output, *bytes));
  auto difference = recover::abi_difference(*like.object, *built.object);
  nlohmann::json document = {{"output", options.output}, {"bytes", bytes->size()}, {"sha256", sha256_hex(*bytes)}};
  std::string text = compare_kernels(like, built, document);
  if (difference) {
    document["abi_difference"] = *difference;
    fmt::print(stderr, "{}: not a drop-in replacement of {}: {}\n", options.output, options.like, *difference);
  }
  return answer(options, text, document);
}

} // namespace

const Verb build_verb = {"build", "assemble and link a listing into a code object",
                         "  asmevo build softmax.s --like softmax.hsaco -o faster.hsaco\n"
                         "  asmevo build softmax.s --like softmax.hsaco --auto-waits -o faster.hsaco\n",
                         [](CLI::App& app) {
                           return declare<Options>(
                               app,
                               [](CLI::App& a, Options& o) {
                                 file_option(a, o.listing, "LISTING", "assembly, as recover prints it");
                                 a.add_option("--like", o.like, "the object that the listing was recovered from")
                                     ->required()
                                     ->type_name("FILE");
                                 a.add_option("--debug", o.debug,
                                              "keep the debug information where it is still true, or drop it")
                                     ->type_name("keep|drop")
                                     ->check(CLI::IsMember({"keep", "drop"}));
                                 a.add_flag("--auto-waits", o.auto_waits,
                                            "take all s_waitcnt and s_nop of the kernels out and put the weakest in "
                                            "that the code needs");
                                 output_option(a, o.output, "the code object to write");
                                 a.get_option("--output")->required();
                               },
                               run);
                         }};

} // namespace asmevo::cli
