// The model against measured MI300A times.
//
//   bench_timing_mi300a DATA/mi300a [--kernel NAME] [--split fit|test] [--max-bytes N] [--csv FILE] [--svg FILE]
//                          [--size PROBLEM_SIZE] [--launches]
//
// Every row of rows.csv is one program at one problem size: its launches are traced on the simulated machine (sampled
// workgroups only), timed, and summed with what the host adds inside the timed region. Prints predicted and measured
// per row, errors per kernel and split, and the error of size scaling; --svg draws predicted against measured. Sizes
// above --max-bytes (1 GiB) are skipped.
#include "timing/harness.h"
#include "timing/mi300a_spec.h"
#include "timing/plot.h"

#include "support/file.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

namespace asmevo::bench {
namespace {

// Host effects inside timed regions, microseconds (data README, "Launch floor and host effects").
constexpr double extra_launch = 1.0; // between kernels of a stream: 1.7-2.3 with the smallest kernels' own time
constexpr double memset_each = 3.5;
double copy_to_device(uint64_t bytes) {
  const double mib = double(bytes) / (1 << 20);
  return bytes <= 65536 ? 7 : std::max(12.0, 20 + 18.1 * mib);
}

struct Row {
  std::string kernel, size, split, flags;
  double measured = 0, predicted = 0; // microseconds
  std::string bound;
};

struct Options {
  std::string data, kernel, split, csv, svg;
  std::string size;
  bool launches = false; // print each launch, with the share of its wave clocks by reason
  uint64_t max_bytes = uint64_t{1} << 30;
};

std::vector<Row> read_rows(const std::string& path) {
  std::ifstream file(path);
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    if (cells.size() < 6) continue;
    cells.resize(7);
    rows.push_back({cells[0], cells[1], cells[5], cells[6], 1000 * std::stod(cells[2]), 0, {}});
  }
  return rows;
}

class Programs {
public:
  Programs(const Options& options, Harness harness)
      : data_(options.data), print_launches_(options.launches), harness_(std::move(harness)) {}

  Result<void> time(Row& row, const nlohmann::json& spec, const nlohmann::json& size) {
    const timing::DeviceTable& device = harness_.device();
    AE_TRY(const SpecRun run, read_run(spec, size, 8));
    machine::Memory memory;
    for (const SpecBuffer& b : run.buffers) {
      AE_TRY(auto bytes, memory.map(b.address, (b.bytes + 255) & ~uint64_t{255}, machine::Access::read_write, b.name));
      const auto content = control_data(b);
      std::copy_n(content.begin(), std::min(content.size(), bytes.size()), bytes.begin());
    }
    row.predicted = device.parameters.launch_floor.value + extra_launch * double(run.launch_count - 1) +
                    memset_each * double(run.memsets);
    for (uint64_t bytes : run.copies_to_device) row.predicted += copy_to_device(bytes);
    const bool repeated =
        std::ranges::all_of(run.launches, [&](const SpecLaunch& l) { return l.kernel == run.launches.front().kernel; });
    for (const SpecLaunch& launch : run.launches) {
      AE_TRY(const timing::Estimate e, time_launch(launch, memory, repeated));
      if (print_launches_) print(launch, e);
      row.predicted += launch.weight * e.kernel_cycles / device.parameters.clock.value;
      row.bound = e.bound;
    }
    return {};
  }

private:
  Result<timing::Estimate> time_launch(const SpecLaunch& launch, machine::Memory& memory, bool repeated) {
    const KernelLaunch kernel{.path = data_ + "/objects/" + launch.code_object,
                              .kernel = launch.kernel,
                              .workgroups = launch.workgroups,
                              .workgroup_size = launch.workgroup_size,
                              .dynamic_lds = launch.dynamic_lds,
                              .kernarg = launch.kernarg};
    return harness_.time(kernel, memory, {.draws = 1, .attribution = print_launches_, .repeated = repeated});
  }

  static void print(const SpecLaunch& launch, const timing::Estimate& e) {
    double issue = 0;
    std::array<double, size_t(timing::Stall::count_)> stalls{};
    uint64_t issues = 0;
    for (const timing::Attribution& a : e.attribution) {
      issue += a.issue_cycles;
      issues += a.issues;
      for (size_t s = 0; s < stalls.size(); ++s) stalls[s] += a.stall_cycles[s];
    }
    std::printf("  %s x %.0f: %u x %u x %u workgroups, %u waves a SIMD, %.0f clk, %s; %llu instructions, issue %.0f %%",
                launch.kernel.c_str(), launch.weight, launch.workgroups[0], launch.workgroups[1], launch.workgroups[2],
                e.occupancy.waves_per_simd, e.kernel_cycles, e.bound.c_str(), static_cast<unsigned long long>(issues),
                100 * issue / e.wave_cycles);
    for (size_t s = 0; s < stalls.size(); ++s)
      if (stalls[s] > 0.005 * e.wave_cycles)
        std::printf(", %s %.0f %%", std::string(timing::stall_name(timing::Stall(s))).c_str(),
                    100 * stalls[s] / e.wave_cycles);
    std::printf("\n");
  }

  std::string data_;
  bool print_launches_;
  Harness harness_;
};

const nlohmann::json* size_of(const nlohmann::json& spec, const std::string& problem_size) {
  for (const auto& size : spec.at("sizes"))
    if (size.at("problem_size") == problem_size) return &size;
  return nullptr;
}

uint64_t bytes_of(const nlohmann::json& size) {
  uint64_t bytes = 0;
  for (const auto& [name, b] : size.at("buffers").items()) bytes += b.at("bytes").get<uint64_t>();
  return bytes;
}

// Errors of one split, of one kernel or (empty) of all.
void summarise(const std::vector<Row>& rows, const std::string& kernel, const std::string& split) {
  std::vector<Pair> pairs;
  for (const Row& r : rows)
    if (r.split == split && (kernel.empty() || r.kernel == kernel)) pairs.push_back({r.measured, r.predicted});
  if (pairs.empty()) return;
  const Errors e = errors_of(pairs);
  std::printf("%-22s %-4s %3zu rows: error weighted by time %5.1f %%, mean %5.1f %%, median %5.1f %%, worst %5.1f %%\n",
              kernel.empty() ? "all" : kernel.c_str(), split.c_str(), e.rows, 100 * e.weighted, 100 * e.mean,
              100 * e.median, 100 * e.worst);
}

// How well the ratio of consecutive sizes of a program is predicted: rows of a file's sizes in ascending order.
void summarise_scaling(const std::vector<Row>& rows) {
  std::vector<double> errors;
  for (size_t i = 1; i < rows.size(); ++i) {
    const Row &a = rows[i - 1], &b = rows[i];
    if (a.kernel == b.kernel) errors.push_back(std::abs(b.predicted / a.predicted / (b.measured / a.measured) - 1));
  }
  if (errors.empty()) return;
  std::ranges::sort(errors);
  std::printf("ratio of neighbouring sizes: median error %.1f %% over %zu\n", 100 * errors[errors.size() / 2],
              errors.size());
}

int compare(const Options& options) {
  auto harness = Harness::create("MI300A");
  if (!harness) return std::cerr << harness.error().message << '\n', 2;
  Programs programs(options, std::move(*harness));
  std::map<std::string, nlohmann::json> specs;
  std::vector<Row> done;
  for (Row& row : read_rows(options.data + "/rows.csv")) {
    if (row.split == "other" || (!options.kernel.empty() && row.kernel != options.kernel) ||
        (!options.split.empty() && row.split != options.split) || (!options.size.empty() && row.size != options.size))
      continue;
    if (!specs.contains(row.kernel)) {
      std::ifstream file(options.data + "/launch/" + row.kernel + ".json");
      specs[row.kernel] = nlohmann::json::parse(file, nullptr, false);
    }
    const nlohmann::json& spec = specs[row.kernel];
    const nlohmann::json* size = spec.is_object() ? size_of(spec, row.size) : nullptr;
    if (!size || bytes_of(*size) > options.max_bytes) {
      std::printf("%-22s %-34s skipped\n", row.kernel.c_str(), row.size.c_str());
      continue;
    }
    if (auto ok = programs.time(row, spec, *size); !ok) {
      std::printf("%-22s %-34s %s\n", row.kernel.c_str(), row.size.c_str(), ok.error().message.c_str());
      continue;
    }
    std::printf("%-22s %-34s %-4s %10.1f us measured %10.1f predicted %+6.1f %% %-8s %s\n", row.kernel.c_str(),
                row.size.c_str(), row.split.c_str(), row.measured, row.predicted,
                100 * (row.predicted / row.measured - 1), row.bound.c_str(), row.flags.c_str());
    std::fflush(stdout);
    done.push_back(row);
  }
  std::vector<std::string> kernels;
  for (const Row& r : done)
    if (kernels.empty() || kernels.back() != r.kernel) kernels.push_back(r.kernel);
  kernels.push_back("");
  for (const std::string& kernel : kernels)
    for (const char* split : {"fit", "test"}) summarise(done, kernel, split);
  summarise_scaling(done);
  if (!options.csv.empty()) {
    std::ofstream csv(options.csv);
    csv << "kernel,problem_size,split,measured_us,predicted_us,bound\n";
    for (const Row& r : done)
      csv << r.kernel << ',' << r.size << ',' << r.split << ',' << r.measured << ',' << r.predicted << ',' << r.bound
          << '\n';
  }
  if (!options.svg.empty()) {
    std::vector<Point> points;
    for (const Row& r : done)
      points.push_back(
          {r.measured, r.predicted,
           fmt::format("{} {}: {:.1f} us measured, {:.1f} predicted", r.kernel, r.size, r.measured, r.predicted),
           r.split == "test"});
    const auto written = write_text_file(
        options.svg, scatter_plot(points, "MI300A, whole programs: the model against measurements", "us"));
    if (!written) return std::cerr << written.error().message << '\n', 2;
  }
  return 0;
}

} // namespace
} // namespace asmevo::bench

int main(int argc, char** argv) {
  asmevo::bench::Options options;
  std::map<std::string, std::string*> text = {{"--kernel", &options.kernel},
                                              {"--split", &options.split},
                                              {"--csv", &options.csv},
                                              {"--svg", &options.svg},
                                              {"--size", &options.size}};
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (text.contains(argument) && i + 1 < argc)
      *text[argument] = argv[++i];
    else if (argument == "--max-bytes" && i + 1 < argc)
      options.max_bytes = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--launches")
      options.launches = true;
    else
      options.data = argument;
  }
  if (options.data.empty()) {
    std::cerr << "usage: bench_timing_mi300a DATA/mi300a [--kernel NAME] [--split fit|test] [--max-bytes N] "
                 "[--csv FILE] [--svg FILE] [--size PROBLEM_SIZE] [--launches]\n";
    return 2;
  }
  return asmevo::bench::compare(options);
}
