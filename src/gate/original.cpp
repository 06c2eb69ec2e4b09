#include "gate/original.h"

#include "analysis/check.h"
#include "support/hash.h"

#include <fmt/ranges.h>

namespace asmevo::gate {
namespace {

std::string_view text_of(const recover::Program& program, size_t item) {
  return item < program.items.size() ? std::string_view(program.items[item].text) : std::string_view();
}

struct Counted {
  const char* what;
  uint32_t isa::Resources::* count;
};
constexpr Counted counted[] = {
    {"VGPRs", &isa::Resources::vgprs}, {"AGPRs", &isa::Resources::agprs}, {"SGPRs", &isa::Resources::sgprs}};

} // namespace

std::optional<std::string> lacking_resources(const isa::Resources& needed, const isa::Resources& declared) {
  for (const Counted& field : counted)
    if (needed.*field.count > declared.*field.count)
      return fmt::format("the descriptor declares {} {} and the instructions need {}", declared.*field.count,
                         field.what, needed.*field.count);
  return std::nullopt;
}

Result<const recover::Function*> function_of(const recover::Program& program, const std::string& kernel) {
  for (const recover::Function& function : program.functions) {
    if (function.kernel < 0 || size_t(function.kernel) >= program.origin->kernels.size()) continue;
    if (program.origin->kernels[size_t(function.kernel)].name == kernel) return &function;
  }
  return fail("{}: no code of kernel \"{}\" in .text", program.origin->path, kernel);
}

std::vector<analysis::Finding> static_findings(const recover::Program& program, const recover::Function& function) {
  return analysis::check_candidate(program, function);
}

std::string finding_key(const recover::Program& program, const analysis::Finding& finding) {
  return fmt::format("{}|{}|{}", finding.rule, text_of(program, finding.item), text_of(program, finding.cause));
}

FindingCounts count_findings(const recover::Program& program, const std::vector<analysis::Finding>& findings) {
  FindingCounts counts;
  for (const analysis::Finding& finding : findings) ++counts[finding_key(program, finding)];
  return counts;
}

Result<Original> examine(std::shared_ptr<const object::CodeObject> object, const std::string& kernel,
                         const isa::Codec& codec) {
  Original original;
  AE_TRY(const object::Kernel* chosen, object::choose_kernel(*object, kernel));
  original.kernel = chosen->name;
  original.hash = sha256_hex(object->bytes);
  AE_TRY(original.program, recover::recover(object, codec));
  AE_TRY(recover::RoundTrip trip, recover::round_trip(original.program, codec));
  if (!trip.differences.empty())
    return fail("{}: an unedited rebuild differs, so nothing can be edited safely:\n  {}", object->path,
                fmt::join(trip.differences, "\n  "));
  original.masked = std::move(trip.masked);
  original.repairs = trip.repairs;
  AE_TRY(const recover::Function* function, function_of(original.program, original.kernel));
  AE_TRY(isa::Resources needed, recover::scan_resources(original.program, *function));
  original.lacking = lacking_resources(needed, original.program.declared[size_t(function->kernel)]);
  original.findings = static_findings(original.program, *function);
  original.finding_counts = count_findings(original.program, original.findings);
  original.object = std::move(object);
  return original;
}

} // namespace asmevo::gate
