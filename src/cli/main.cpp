#include "cli/cli.h"

#include <cstdio>
#include <exception>
#include <fmt/format.h>

int main(int argc, char** argv) {
  try {
    return asmevo::cli::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "asmevo: fault of the tool: {}\n", error.what());
    return 3;
  }
}
