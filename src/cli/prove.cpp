// prove: does K1 compute the same as K0, for all inputs?
#include "prove/prove.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "recover/recover.h"

namespace asmevo::cli {
namespace {

struct Options : Common {
  std::string original, candidate, kernel;
  double seconds = 2;
  std::vector<std::string> allowed;
};

Result<recover::Program> open_program(const std::string& path, const std::string& kernel) {
  AE_TRY(Input input, open_input(path));
  if (!kernel.empty()) AE_CHECK(object::choose_kernel(*input.object, kernel));
  return recover::recover(input.object, input.codec);
}

ExitStatus status_of(prove::Outcome outcome) {
  constexpr ExitStatus statuses[] = {positive, negative, undecided};
  return statuses[size_t(outcome)];
}

std::string text_of(const Options& options, const prove::Proof& proof) {
  std::string text = fmt::format("{}: {}\n", options.candidate, prove::outcome_name(proof.outcome));
  if (!proof.function.empty()) text += fmt::format("  kernel {}\n", proof.function);
  if (!proof.reason.empty()) text += fmt::format("  {}\n", proof.reason);
  if (proof.holds())
    text += fmt::format("  {} region{} differ{} and compute the same{}\n", proof.regions, proof.regions == 1 ? "" : "s",
                        proof.regions == 1 ? "s" : "",
                        proof.full_waves ? ", in waves that begin with all 64 lanes active" : "");
  return text;
}

Result<ExitStatus> run(const Options& options) {
  AE_TRY(const recover::Program original, open_program(options.original, options.kernel));
  AE_TRY(const recover::Program candidate, open_program(options.candidate, options.kernel));
  prove::Policy policy;
  for (const std::string& rule : options.allowed) {
    policy.floats.commute |= rule == "commute";
    policy.floats.contract |= rule == "contract";
    policy.aliases.arguments_are_distinct |= rule == "distinct";
  }
  policy.solver_limit = std::chrono::milliseconds(static_cast<int64_t>(options.seconds * 1000));
  const prove::Proof proof = prove::prove(original, candidate, policy, options.kernel);
  const nlohmann::json document = {{"outcome", prove::outcome_name(proof.outcome)},
                                   {"reason", proof.reason},
                                   {"function", proof.function},
                                   {"regions", proof.regions},
                                   {"solver_questions", proof.questions},
                                   {"full_waves", proof.full_waves}};
  return answer(options, text_of(options, proof), document, status_of(proof.outcome));
}

} // namespace

const Verb prove_verb = {"prove", "show that a code object computes the same as the original, for all inputs",
                         "  asmevo prove softmax.hsaco faster.hsaco\n"
                         "  asmevo prove gemm.co faster.co --kernel gemm --timeout 10 --json\n"
                         "  asmevo prove softmax.hsaco faster.hsaco --allow commute --allow contract\n"
                         "Exit status: 0 proved, 1 refuted, 4 unknown.\n",
                         [](CLI::App& app) {
                           return declare<Options>(
                               app,
                               [](CLI::App& a, Options& o) {
                                 file_option(a, o.original, "K0", "the original code object");
                                 file_option(a, o.candidate, "K1", "the code object that should compute the same");
                                 kernel_option(a, o.kernel);
                                 a.add_option("--allow", o.allowed,
                                              "take float operands in either order (commute), a product and a sum as "
                                              "rounded once (contract), or pointers among the kernel's arguments as "
                                              "leading to different memory (distinct)")
                                     ->type_name("RULE")
                                     ->allow_extra_args(false)
                                     ->check(CLI::IsMember({"commute", "contract", "distinct"}));
                                 a.add_option("--timeout", o.seconds, "of one question to the solver")
                                     ->type_name("SECONDS")
                                     ->check(CLI::Range(0.01, 3600.0));
                               },
                               run);
                         }};

} // namespace asmevo::cli
