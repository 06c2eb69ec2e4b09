// A fuzz driver for compilers without libFuzzer: seeded mutations of the given files, one after the other. It has no
// coverage to go by, so it leans on what breaks readers of binary files: sizes and offsets at their extremes, cut-off
// ends, and pieces of one place copied to another. The last input is kept in <program>-crash-input until the run is
// over.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

struct Options {
  long runs = -1, seconds = -1;
  uint32_t seed = 1;
  std::vector<Bytes> seeds;
};

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; i++) {
    std::string argument = argv[i];
    if (argument.starts_with("-runs="))
      o.runs = std::stol(argument.substr(6));
    else if (argument.starts_with("-max_total_time="))
      o.seconds = std::stol(argument.substr(16));
    else if (argument.starts_with("-seed="))
      o.seed = uint32_t(std::stoul(argument.substr(6)));
    else if (!argument.starts_with("-")) {
      std::ifstream file(argument, std::ios::binary);
      o.seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  if (o.seeds.empty()) o.seeds.emplace_back();
  return o;
}

void mutate(Bytes& bytes, std::mt19937& random) {
  if (bytes.empty()) return bytes.push_back(uint8_t(random()));
  size_t at = random() % bytes.size();
  switch (random() % 7) {
  case 0:
    bytes[at] = uint8_t(random());
    break;
  case 1:
    bytes[at] ^= uint8_t(1u << random() % 8);
    break;
  case 2:
    bytes.resize(at);
    break;
  case 3: { // an extreme number
    static constexpr uint64_t numbers[] = {
        0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, ~uint64_t{0}};
    uint64_t number = numbers[random() % std::size(numbers)];
    std::memcpy(bytes.data() + at, &number, std::min<size_t>(size_t{1} << random() % 4, bytes.size() - at));
    break;
  }
  case 4: { // a piece of somewhere else
    size_t from = random() % bytes.size(),
           size = std::min<size_t>({1 + random() % 64, bytes.size() - from, bytes.size() - at});
    std::memmove(bytes.data() + at, bytes.data() + from, size);
    break;
  }
  case 5:
    bytes.insert(bytes.begin() + at, random() % 16, uint8_t(random()));
    break;
  case 6:
    at &= ~size_t{3}; // a word of the headers
    if (bytes.size() > 512) bytes[random() % 512] = uint8_t(random());
    break;
  }
}

} // namespace

int main(int argc, char** argv) {
  Options options = parse(argc, argv);
  std::mt19937 random(options.seed);
  std::string kept = std::string(argv[0]) + "-crash-input";
  auto start = std::chrono::steady_clock::now();
  for (const Bytes& seed : options.seeds) LLVMFuzzerTestOneInput(seed.data(), seed.size());
  long run = 0;
  for (; options.runs < 0 || run < options.runs; run++) {
    if (options.seconds >= 0 && std::chrono::steady_clock::now() - start > std::chrono::seconds(options.seconds)) break;
    Bytes input = options.seeds[random() % options.seeds.size()];
    for (int n = 1 + int(random() % 5); n; n--) mutate(input, random);
    std::ofstream(kept, std::ios::binary)
        .write(reinterpret_cast<const char*>(input.data()), std::streamsize(input.size()));
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::remove(kept.c_str());
  std::printf("%ld runs\n", run);
}
