// Ctrl-C: told to whoever works, instead of dying in the middle.
#pragma once

namespace asmevo::cli {

/// From now on SIGINT, SIGTERM and SIGHUP set the flag that is returned, the first time; the second time they end the
/// process at once.
const volatile bool* stop_on_signal();

} // namespace asmevo::cli
