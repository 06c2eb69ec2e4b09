// The model against measured matrix products of AITER on MI308X (80 CUs) and MI300X (304 CUs).
//
//   bench_timing_aiter DATA [--seed N] [--rows-only] [--svg FILE]
//
// Every row of tables/aiter_measured.csv is one hand-written kernel at one shape: D = A B^T with int8 or bf16 inputs
// and bf16 result. The rows are the winners of a tuner that tried every tile size, so the fastest of several noisy
// timings, and each shape also says that no other tile was faster. Rows are halved by a seeded draw into `fit`, which
// parameters of the devices may be read off, and `test`. Prints predicted and measured per row, errors per device and
// split, and for how many shapes the recorded winner is within 10 % of the model's best tile of the same family.
#include "timing/harness.h"
#include "timing/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

namespace asmevo::bench {
namespace {

/// int8: scales a row and a column. bf16: the workgroups of a split product wait for the one that clears D.
enum class Family : uint8_t { int8, bf16 };

struct Tile {
  uint32_t m = 0, n = 0;
  bool splits = true; // K over several workgroups
  Family family = Family::int8;
};
constexpr Tile tiles[] = {{16, 128},
                          {32, 128},
                          {48, 128},
                          {64, 128},
                          {80, 128},
                          {96, 128},
                          {128, 128},
                          {112, 256, false},
                          {32, 64, true, Family::bf16},
                          {48, 64, true, Family::bf16},
                          {64, 64, true, Family::bf16},
                          {96, 64, true, Family::bf16}};

struct Row {
  std::string device, path; // of the code object
  Tile tile;
  uint32_t m = 0, n = 0, k = 0, splits = 1;
  bool test = false;
  double measured = 0, predicted = 0; // microseconds
  std::string bound;

  std::string shape() const {
    return fmt::format("{}x{}x{}{}", m, n, k, splits > 1 ? fmt::format(" split {}", splits) : "");
  }
};

struct Options {
  std::string data, svg;
  uint64_t seed = 1;
  bool rows_only = false;
};

std::string tile_name(Tile t) { return fmt::format("{}x{}", t.m, t.n); }
std::string object_path(const std::string& data, Tile t) {
  const std::string folder = data + "/aiter/hsa/gfx942/";
  return t.family == Family::int8
             ? fmt::format("{}i8gemm/I8gemm_bf16_perTokenI8_BpreShuffle_{}.co", folder, tile_name(t))
             : fmt::format("{}bf16gemm/bf16gemm_fp32bf16_tn_{}_splitk_clean.co", folder, tile_name(t));
}

/// "M=128;N=64;..." as numbers; what is no number is left out.
std::map<std::string, uint32_t> shape_of(const std::string& text) {
  std::map<std::string, uint32_t> shape;
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, ';');)
    if (const size_t equals = part.find('='); equals != part.npos)
      shape[part.substr(0, equals)] = static_cast<uint32_t>(std::strtoul(part.c_str() + equals + 1, nullptr, 10));
  return shape;
}

/// Half of the rows, by a hash of the seed and the row's place.
bool held_out(uint64_t seed, size_t row) {
  uint64_t x = seed * 0x9e3779b97f4a7c15 + row;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return ((x ^ (x >> 31)) & 1) != 0;
}

std::vector<Row> read_rows(const Options& options, size_t& left_out) {
  std::ifstream file(options.data + "/tables/aiter_measured.csv");
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);
  for (size_t number = 0; std::getline(file, line); ++number) {
    std::vector<std::string> cells;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    if (cells.size() != 4) continue;
    const std::string path = options.data + "/aiter/" + cells[2];
    const auto tile = std::ranges::find_if(tiles, [&](Tile t) { return path == object_path(options.data, t); });
    if (tile == std::end(tiles)) {
      ++left_out;
      continue;
    }
    auto shape = shape_of(cells[3]);
    rows.push_back({.device = cells[0] == "304" ? "MI300X" : "MI308X",
                    .path = path,
                    .tile = *tile,
                    .m = shape["M"],
                    .n = shape["N"],
                    .k = shape["K"],
                    .splits = std::max(1u, shape["splitK"]),
                    .test = held_out(options.seed, number),
                    .measured = std::strtod(cells[1].c_str(), nullptr)});
  }
  return rows;
}

// The kernels' argument block: each value in 16 bytes of its own.
class Arguments {
public:
  void put(size_t slot, uint64_t value, size_t bytes) { std::memcpy(block_.data() + 16 * slot, &value, bytes); }
  const std::vector<uint8_t>& block() const { return block_; }

private:
  std::vector<uint8_t> block_ = std::vector<uint8_t>(352);
};

struct Slot {
  size_t at;
  const char* name; // of a buffer; null for a number
  uint64_t value;   // or bytes of the buffer
};

/// What the argument block of each family holds. Source: aiter-launch/*.json of the data folder.
std::vector<Slot> slots_of(Family family, const Row& row) {
  const uint64_t m = row.m, n = row.n, k = row.k, splits = row.splits;
  if (family == Family::int8)
    return {{0, "C", 2 * m * n}, {1, "A", m * k},      {2, "B", n * k},      {3, "SA", 4 * m}, {4, "SB", 4 * n},
            {5, "BIAS", 4 * n},  {6, nullptr, m},      {7, nullptr, n},      {8, nullptr, k},  {9, nullptr, k},
            {10, nullptr, k},    {11, nullptr, 2 * n}, {12, nullptr, splits}};
  constexpr uint64_t one = 0x3f800000;
  return {{0, "D", 2 * m * n}, {2, "A", 2 * m * k},     {3, "B", 2 * n * k},  {4, nullptr, one},
          {6, nullptr, 2 * n}, {8, nullptr, 2 * n},     {10, nullptr, 2 * k}, {12, nullptr, 2 * k},
          {14, nullptr, m},    {15, nullptr, n},        {16, nullptr, k},     {17, nullptr, splits},
          {18, nullptr, 1},    {21, "semaphores", 4096}};
}

std::array<uint32_t, 3> grid_of(Tile tile, const Row& row) {
  const uint32_t columns = row.n / tile.n, rows = (row.m + tile.m - 1) / tile.m;
  if (tile.family == Family::int8) return {columns * row.splits, rows, 1};
  return {columns, rows, row.splits};
}

Result<timing::Estimate> time_product(Harness& harness, const std::string& path, Tile tile, const Row& row) {
  machine::Memory memory;
  Arguments arguments;
  uint64_t address = 0x7f0000000000;
  for (const Slot& slot : slots_of(tile.family, row)) {
    arguments.put(slot.at, slot.name ? address : slot.value, slot.name ? 8 : 4);
    if (!slot.name) continue;
    // 112x256 reads scales of more than its tile and drops them; on a GPU whatever lies behind the buffer is read.
    const uint64_t bytes = (slot.value + 65536 + 4095) / 4096 * 4096;
    AE_CHECK(memory.map(address, bytes, machine::Access::read_write, slot.name));
    address += bytes + (uint64_t{2} << 20);
  }
  const KernelLaunch launch{
      .path = path, .workgroups = grid_of(tile, row), .workgroup_size = {256, 1, 1}, .kernarg = arguments.block()};
  return harness.time(launch, memory, {.draws = 1});
}

void print_errors(const std::vector<Row>& rows, const std::string& device, bool test) {
  std::vector<Pair> pairs;
  for (const Row& r : rows)
    if (r.test == test && (device.empty() || r.device == device)) pairs.push_back({r.measured, r.predicted});
  const Errors e = errors_of(pairs);
  if (e.rows)
    std::printf(
        "%-7s %-4s %3zu rows: error weighted by time %5.1f %%, mean %5.1f %%, median %5.1f %%, worst %5.1f %%\n",
        device.empty() ? "all" : device.c_str(), test ? "test" : "fit", e.rows, 100 * e.weighted, 100 * e.mean,
        100 * e.median, 100 * e.worst);
}

/// Whether the model thinks that the recorded tile is (nearly) the best of those that can run the shape.
Result<void> compare_tiles(Harness& harness, const Options& options, const Row& row, size_t& compared, size_t& near) {
  double best = row.predicted;
  Tile fastest = row.tile;
  size_t able = 0;
  for (Tile tile : tiles) {
    if (tile.family != row.tile.family || row.n % tile.n != 0 || (row.splits > 1 && !tile.splits)) continue;
    ++able;
    AE_TRY(const timing::Estimate e, time_product(harness, object_path(options.data, tile), tile, row));
    if (e.median * 1e6 < best) best = e.median * 1e6, fastest = tile;
  }
  if (able < 2) return {};
  ++compared;
  near += row.predicted <= 1.1 * best;
  std::printf("%-7s %-24s winner %-8s %9.1f us, the model's best %-8s %9.1f us%s\n", row.device.c_str(),
              row.shape().c_str(), tile_name(row.tile).c_str(), row.predicted, tile_name(fastest).c_str(), best,
              row.predicted <= 1.1 * best ? "" : "  *");
  return {};
}

int compare(const Options& options) {
  std::map<std::string, Harness> harnesses;
  size_t left_out = 0;
  std::vector<Row> rows = read_rows(options, left_out);
  if (rows.empty()) return std::cerr << options.data << "/tables/aiter_measured.csv: no rows\n", 2;
  for (Row& row : rows) {
    if (!harnesses.contains(row.device)) {
      auto harness = Harness::create(row.device);
      if (!harness) return std::cerr << harness.error().message << '\n', 2;
      harnesses.emplace(row.device, std::move(*harness));
    }
    const auto e = time_product(harnesses.at(row.device), row.path, row.tile, row);
    if (!e) return std::cerr << row.path << ": " << row.shape() << ": " << e.error().message << '\n', 2;
    row.predicted = e->median * 1e6;
    row.bound = e->bound;
    std::printf("%-7s %-24s tile %-8s %-4s %9.1f us measured %9.1f predicted %+6.1f %% %s\n", row.device.c_str(),
                row.shape().c_str(), tile_name(row.tile).c_str(), row.test ? "test" : "fit", row.measured,
                row.predicted, 100 * (row.predicted / row.measured - 1), row.bound.c_str());
    std::fflush(stdout);
  }
  if (left_out) std::printf("%zu rows of kernels without a tile here were left out\n", left_out);
  for (const char* device : {"MI300X", "MI308X", ""})
    for (bool test : {false, true}) print_errors(rows, device, test);
  if (!options.rows_only) {
    size_t compared = 0, near = 0;
    for (const Row& row : rows)
      if (auto ok = compare_tiles(harnesses.at(row.device), options, row, compared, near); !ok)
        return std::cerr << ok.error().message << '\n', 2;
    std::printf("the recorded winner is within 10 %% of the model's best tile in %zu of %zu shapes (%.0f %%)\n", near,
                compared, 100 * double(near) / double(std::max<size_t>(1, compared)));
  }
  if (!options.svg.empty()) {
    std::vector<Point> points;
    for (const Row& r : rows)
      points.push_back({r.measured, r.predicted,
                        fmt::format("{} {} tile {}: {:.1f} us measured, {:.1f} predicted", r.device, r.shape(),
                                    tile_name(r.tile), r.measured, r.predicted),
                        r.test});
    const auto written =
        write_text_file(options.svg, scatter_plot(points, "AITER int8 products: the model against measurements", "us"));
    if (!written) return std::cerr << written.error().message << '\n', 2;
  }
  return 0;
}

} // namespace
} // namespace asmevo::bench

int main(int argc, char** argv) {
  asmevo::bench::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--seed" && i + 1 < argc)
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--svg" && i + 1 < argc)
      options.svg = argv[++i];
    else if (argument == "--rows-only")
      options.rows_only = true;
    else
      options.data = argument;
  }
  if (options.data.empty()) {
    std::cerr << "usage: bench_timing_aiter DATA [--seed N] [--rows-only] [--svg FILE]\n";
    return 2;
  }
  return asmevo::bench::compare(options);
}
