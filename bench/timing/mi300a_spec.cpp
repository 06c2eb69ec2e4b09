// Expanding sequences, packing kernel arguments, making the data that control flow depends on.
#include "timing/mi300a_spec.h"

#include <cstdlib>
#include <cstring>
#include <map>

namespace asmevo::bench {

namespace {

using nlohmann::json;
using Variables = std::map<std::string, int64_t>;

// A number, or "=k", or "=1<<k" over loop variables: all that the files use.
Result<int64_t> value_of(const json& value, const Variables& variables) {
  if (value.is_number()) return value.get<int64_t>();
  std::string text = value.get<std::string>();
  if (text.empty() || text[0] != '=') return fail("mi300a: \"{}\" is not a number", text);
  text.erase(0, 1);
  int64_t factor = 0;
  if (const size_t shift = text.find("<<"); shift != std::string::npos) {
    factor = std::strtoll(text.c_str(), nullptr, 10);
    text.erase(0, shift + 2);
  }
  const auto at = variables.find(text);
  if (at == variables.end()) return fail("mi300a: unknown variable \"{}\"", text);
  return factor ? factor << at->second : at->second;
}

template <class T> void put(std::vector<uint8_t>& bytes, size_t at, T value) {
  if (at + sizeof value <= bytes.size()) std::memcpy(bytes.data() + at, &value, sizeof value);
}

struct Expansion {
  const json& spec;
  const json& size;
  unsigned loop_samples;
  SpecRun run;

  uint64_t address_of(const std::string& name) const {
    for (const SpecBuffer& b : run.buffers)
      if (b.name == name) return b.address;
    return 0;
  }

  Result<void> pack_argument(SpecLaunch& launch, const json& argument, const json& value, const Variables& variables) {
    const size_t at = argument.at("offset");
    const std::string type = argument.at("type");
    if (type == "ptr") {
      put(launch.kernarg, at, value.is_null() ? uint64_t{0} : address_of(value.get<std::string>()));
    } else if (type == "f32") {
      put(launch.kernarg, at, value.get<float>());
    } else if (type == "uint2") {
      put(launch.kernarg, at, value.at(0).get<uint32_t>());
      put(launch.kernarg, at + 4, value.at(1).get<uint32_t>());
    } else {
      AE_TRY(const int64_t number, value_of(value, variables));
      put(launch.kernarg, at, static_cast<uint32_t>(number));
    }
    return {};
  }

  void pack_hidden(SpecLaunch& launch, const json& kernel) {
    const std::map<std::string, uint64_t> values = {
        {"hidden_block_count_x", launch.workgroups[0]},
        {"hidden_block_count_y", launch.workgroups[1]},
        {"hidden_block_count_z", launch.workgroups[2]},
        {"hidden_group_size_x", launch.workgroup_size[0]},
        {"hidden_group_size_y", launch.workgroup_size[1]},
        {"hidden_group_size_z", launch.workgroup_size[2]},
        {"hidden_grid_dims", 3},
        {"hidden_dynamic_lds_size", launch.dynamic_lds},
    };
    for (const json& hidden : kernel.at("hidden_args")) {
      const auto found = values.find(hidden.at("kind").get<std::string>());
      const uint64_t value = found == values.end() ? 0 : found->second;
      const size_t at = hidden.at("offset"), bytes = hidden.at("size");
      for (size_t i = 0; i < bytes && at + i < launch.kernarg.size(); ++i)
        launch.kernarg[at + i] = static_cast<uint8_t>(value >> 8 * i);
    }
  }

  Result<void> add_launch(const json& op, const Variables& variables, double weight) {
    const std::string name = op.at("kernel");
    const json& kernel = spec.at("kernels").at(name);
    SpecLaunch launch{.kernel = kernel.at("symbol"), .code_object = kernel.at("code_object"), .weight = weight};
    for (size_t d = 0; d < 3; ++d) {
      AE_TRY(const int64_t groups, value_of(op.at("grid_workgroups").at(d), variables));
      launch.workgroups[d] = static_cast<uint32_t>(groups);
      launch.workgroup_size[d] = kernel.at("block").at(d);
    }
    launch.dynamic_lds = kernel.at("dynamic_lds_bytes");
    launch.kernarg.resize(kernel.at("kernarg_segment_size").get<size_t>());
    std::map<std::string, json> values;
    for (const json& a : size.at("args_by_kernel").at(name)) values[a.at("name")] = a.at("value");
    if (op.contains("set"))
      for (const auto& [key, value] : op.at("set").items()) values[key] = value;
    for (const json& a : kernel.at("args")) AE_CHECK(pack_argument(launch, a, values[a.at("name")], variables));
    pack_hidden(launch, kernel);
    run.launches.push_back(std::move(launch));
    return {};
  }

  Result<void> walk(const json& ops, const Variables& variables, double weight) {
    for (const json& op : ops) {
      const std::string kind = op.at("op");
      if (kind == "launch") {
        AE_CHECK(add_launch(op, variables, weight));
      } else if (kind == "loop") {
        const int64_t start = op.at("start"), stop = op.at("stop"), step = op.at("step");
        const int64_t iterations = (stop - start + step - 1) / step;
        const int64_t kept = std::min<int64_t>(iterations, loop_samples);
        for (int64_t i = 0; i < kept; ++i) {
          Variables inner = variables;
          inner[op.at("var")] = start + step * (iterations * (2 * i + 1) / (2 * kept));
          AE_CHECK(walk(op.at("body"), inner, weight * double(iterations) / double(kept)));
        }
      } else if (kind == "memcpy_h2d") {
        run.copies_to_device.push_back(op.at("bytes"));
      } else if (kind == "memset") {
        ++run.memsets;
      }
    }
    return {};
  }
};

// The programs seed the C library's generator and so do we; its sequence is what their inputs are defined by.
uint32_t next_random() { return static_cast<uint32_t>(random()); }

template <class T> std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

struct SparseRows {
  std::vector<uint32_t> offsets{0}, columns;
};

SparseRows page_links(uint32_t nodes, unsigned seed) {
  srandom(seed);
  SparseRows rows;
  for (uint32_t i = 0; i < nodes; ++i) {
    for (uint32_t j = 0; j < nodes; ++j)
      if (float(next_random()) / 2147483648.0f < 0.5f) rows.columns.push_back(j);
    rows.offsets.push_back(static_cast<uint32_t>(rows.columns.size()));
  }
  return rows;
}

} // namespace

Result<SpecRun> read_run(const json& spec, const json& size, unsigned loop_samples) {
  Expansion e{spec, size, loop_samples, {}};
  uint64_t address = 0x7f0000000000;
  for (const auto& [name, b] : size.at("buffers").items()) {
    SpecBuffer buffer{.name = name, .address = address, .bytes = b.at("bytes"), .init = b.at("init")};
    if (b.contains("allocate_at_least_bytes"))
      buffer.bytes = std::max(buffer.bytes, b.at("allocate_at_least_bytes").get<uint64_t>());
    address += (buffer.bytes + (2u << 20)) & ~uint64_t{(1u << 20) - 1};
    e.run.buffers.push_back(std::move(buffer));
  }
  e.run.launch_count = size.at("launches_per_measurement");
  AE_CHECK(e.walk(size.at("sequence"), {}, 1));
  return std::move(e.run);
}

std::vector<uint8_t> control_data(const SpecBuffer& buffer) {
  const std::string kind = buffer.init.at("gen");
  if (kind == "pagerank_row_offsets")
    return bytes_of(page_links(buffer.init.at("nodes"), buffer.init.at("seed")).offsets);
  if (kind == "pagerank_columns") return bytes_of(page_links(buffer.init.at("nodes"), buffer.init.at("seed")).columns);
  if (kind == "fw_distance") {
    srandom(buffer.init.at("seed"));
    const uint32_t n = buffer.init.at("n");
    std::vector<uint32_t> distances;
    for (uint32_t i = 0; i < n; ++i)
      for (uint32_t j = 0; j < n; ++j) distances.push_back(i == j ? 0 : next_random() % 100 + 1);
    return bytes_of(distances);
  }
  return {};
}

} // namespace asmevo::bench
