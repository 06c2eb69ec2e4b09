// build: from a listing back to a code object.
#include "cli/options.h"
#include "recover/recover.h"
#include "support/hash.h"

namespace asmevo::cli {
namespace {

struct Options : Common {
  std::string listing, like, output;
};

Result<ExitStatus> run(const Options& options) {
  AE_CHECK(check_writable(options.output));
  AE_TRY(Input like, open_input(options.like));
  AE_TRY(std::string listing, read_text_file(options.listing));
  auto bytes = recover::build(listing, *like.object, like.codec);
  if (!bytes)
    return fail("{}:{}:{}: {}", options.listing, bytes.error().line, bytes.error().column, bytes.error().message);
  AE_TRY(Input built, open_input(*bytes, options.output));
  AE_CHECK(write_file(options.output, *bytes));
  auto difference = recover::abi_difference(*like.object, *built.object);
  nlohmann::json document = {{"output", options.output}, {"bytes", bytes->size()}, {"sha256", sha256_hex(*bytes)}};
  if (difference) {
    document["abi_difference"] = *difference;
    fmt::print(stderr, "{}: not a drop-in replacement of {}: {}\n", options.output, options.like, *difference);
  }
  return answer(options, "", document);
}

} // namespace

const Verb build_verb = {"build", "assemble and link a listing into a code object",
                         "  asmevo build softmax.s --like softmax.hsaco -o faster.hsaco\n", [](CLI::App& app) {
                           return declare<Options>(
                               app,
                               [](CLI::App& a, Options& o) {
                                 file_option(a, o.listing, "LISTING", "assembly, as recover prints it");
                                 a.add_option("--like", o.like, "the object that the listing was recovered from")
                                     ->required()
                                     ->type_name("FILE");
                                 output_option(a, o.output, "the code object to write");
                                 a.get_option("--output")->required();
                               },
                               run);
                         }};

} // namespace asmevo::cli
