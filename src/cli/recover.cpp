// recover: a code object as assembly that llvm-mc accepts.
#include "recover/recover.h"
#include "cli/options.h"

namespace asmevo::cli {
namespace {

struct Options : Common {
  std::string file, output;
  bool no_addresses = false;
};

Result<ExitStatus> run(const Options& options) {
  if (!options.output.empty()) AE_CHECK(check_writable(options.output));
  AE_TRY(Input input, open_input(options.file));
  AE_TRY(recover::Program program, recover::recover(input.object, input.codec));
  std::string listing = recover::print_listing(program, !options.no_addresses);
  nlohmann::json document = {{"file", options.file}, {"target", isa::target_id(program.target)}};
  for (const recover::Item& item : program.items) document["items"].push_back(item.text); // what edits count
  if (options.output.empty()) {
    document["listing"] = listing;
    return answer(options, listing, document);
  }
  AE_CHECK(write_text_file(options.output, listing));
  document["output"] = options.output;
  return answer(options, "", document);
}

} // namespace

const Verb recover_verb = {"recover", "print a code object as assembly that can be edited and built again",
                           "  asmevo recover softmax.hsaco -o softmax.s\n"
                           "  asmevo recover softmax.hsaco --no-addresses | less\n",
                           [](CLI::App& app) {
                             return declare<Options>(
                                 app,
                                 [](CLI::App& a, Options& o) {
                                   file_option(a, o.file);
                                   output_option(a, o.output, "where the listing goes; stdout without it");
                                   a.add_flag("--no-addresses", o.no_addresses,
                                              "without the original address of each instruction");
                                 },
                                 run);
                           }};

} // namespace asmevo::cli
