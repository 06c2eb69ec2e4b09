// Receipts of verifications, kept between commands: what was verified need not be verified again to be timed.
//
// A receipt speaks of the bytes of K0 and K1, the content of the launch, the policy, the device and the build of this
// program; where any of these differs there is none. They lie in $XDG_CACHE_HOME/asmevo/receipts (~/.cache without it)
// and can be deleted at any time.
#pragma once

#include "cli/verification.h"

namespace asmevo::cli {

/// Names the receipt that a candidate would have. Empty where none is kept: the launch reads files, whose content its
/// hash does not cover, or nothing says which build this is.
std::string receipt_name(const Setting& setting, const device::Loaded& candidate);

/// Keeps that `verification` holds. Nothing happens where there is no place to keep it.
void keep_receipt(const std::string& name, const Verification& verification);

/// What a kept receipt says, in words: "8 cases in 11 runs on simulated MI300X". Nothing where there is none.
std::optional<std::string> kept_receipt(const std::string& name);

} // namespace asmevo::cli
