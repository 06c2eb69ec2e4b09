#include "cli/verification.h"

#include "recover/recover.h"

namespace asmevo::cli {

Result<Verification> verify_file(Setting& setting, const std::string& path, uint64_t seed, const volatile bool* stop) {
  AE_TRY(Input candidate, open_input(path));
  Verification v{.device = setting.device->description(), .seed = seed};
  v.difference = recover::abi_difference(*setting.input.object, *candidate.object);
  if (v.difference) return v;
  AE_TRY(v.loaded, setting.device->load(candidate.object));
  oracle::Options options{.seed = seed, .stop = stop};
  AE_TRY(oracle::Reference reference,
         oracle::Reference::create(*setting.device, setting.loaded, setting.launch, oracle::default_policy(), options));
  AE_TRY(v.judgement, oracle::verify(*setting.device, reference, v.loaded, options));
  v.notes = reference.notes();
  v.fidelity = reference.fidelity();
  return v;
}

} // namespace asmevo::cli
