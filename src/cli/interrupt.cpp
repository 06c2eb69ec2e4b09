#include "cli/interrupt.h"

#include <csignal>
#include <initializer_list>

namespace asmevo::cli {
namespace {

volatile bool stop = false;

extern "C" void request_stop(int) { stop = true; }

} // namespace

const volatile bool* stop_on_signal() {
  struct sigaction action{};
  action.sa_handler = request_stop;
  action.sa_flags = int(SA_RESETHAND) | SA_RESTART;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  return &stop;
}

} // namespace asmevo::cli
