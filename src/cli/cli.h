// The command line: parses, dispatches to a verb, turns what comes back into an exit status.
#pragma once

namespace CLI {
class App;
}

namespace asmevo::cli {

/// Exit status: 0 done or verdict positive, 1 verdict negative, 2 bad usage or input, 3 fault of the tool.
int run(int argc, char** argv);

} // namespace asmevo::cli
