// Initial contents of the MI300A programs' buffers, by the generators that their specs name. The programs draw from the
// C library's random(), and so does this.
#pragma once

#include "timing/mi300a_spec.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace asmevo::machine::mi300a {

using nlohmann::json;
using Bytes = std::vector<uint8_t>;

template <class T> Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// One array, from what `value(index)` gives for each element in order.
template <class T> Bytes filled(size_t count, const std::function<T(size_t)>& value) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = value(i);
  return bytes_of(values);
}

inline uint32_t draw() { return uint32_t(random()); }

struct Graph {
  std::vector<uint32_t> offsets{0}, columns;
};

/// A spanning tree and random undirected edges; neighbours in the order they were added.
inline Graph random_graph(uint32_t nodes, uint32_t degree, unsigned seed) {
  srandom(seed);
  std::vector<std::vector<uint32_t>> neighbours(nodes);
  auto connect = [&](uint32_t a, uint32_t b) {
    neighbours[a].push_back(b);
    neighbours[b].push_back(a);
  };
  for (uint32_t i = 1; i < nodes; ++i) connect(draw() % i, i);
  for (uint32_t edges = nodes - 1; edges < nodes * degree / 2;) {
    const uint32_t u = draw() % nodes, v = draw() % nodes;
    if (u == v) continue;
    connect(u, v);
    ++edges;
  }
  Graph graph;
  for (const auto& list : neighbours) {
    graph.columns.insert(graph.columns.end(), list.begin(), list.end());
    graph.offsets.push_back(uint32_t(graph.columns.size()));
  }
  return graph;
}

inline Graph random_links(uint32_t nodes, unsigned seed) {
  srandom(seed);
  Graph graph;
  for (uint32_t i = 0; i < nodes; ++i) {
    for (uint32_t j = 0; j < nodes; ++j)
      if (float(draw()) / 2147483648.0f < 0.5f) graph.columns.push_back(j);
    graph.offsets.push_back(uint32_t(graph.columns.size()));
  }
  return graph;
}

inline Bytes link_weights(const Graph& links) {
  std::vector<float> weights;
  for (size_t row = 0; row + 1 < links.offsets.size(); ++row) {
    const uint32_t count = links.offsets[row + 1] - links.offsets[row];
    weights.insert(weights.end(), count, 1.0f / float(count));
  }
  return bytes_of(weights);
}

/// Empty for a buffer whose contents are undefined, and for a generator that is not known here.
inline Bytes initial(const json& buffer) {
  const json& init = buffer.at("init");
  const std::string kind = init.at("gen"), type = buffer.at("dtype");
  const size_t count = buffer.at("count");
  if (kind == "const" && type == "f32")
    return filled<float>(count, [&](size_t) { return init.at("value").get<float>(); });
  if (kind == "const") return filled<int32_t>(count, [&](size_t) { return init.at("value").get<int32_t>(); });
  if (kind == "iota")
    return filled<float>(count, [&](size_t i) { return float(double(i) * init.at("scale").get<double>()); });
  if (kind == "rand_affine") {
    srandom(init.at("seed"));
    for (int skip = init.at("skip"); skip > 0; --skip) draw();
    const int mod = init.at("mod"), sub = init.at("sub"), div = init.at("div");
    const float minus = init.at("minus");
    return filled<float>(count, [&](size_t) { return float(int(draw() % uint32_t(mod)) - sub) / float(div) - minus; });
  }
  if (kind == "nbody_pos") {
    srandom(init.at("seed"));
    return filled<float>(count, [&](size_t i) { return i % 4 == 3 ? 1.0f : float(draw() % 1000) / 500.0f - 1.0f; });
  }
  if (kind == "rand_fwt") {
    srandom(init.at("seed"));
    return filled<float>(count, [&](size_t) {
      const uint32_t whole = draw() % 256;
      return float(whole) + float(draw()) / 2147483648.0f;
    });
  }
  if (kind == "fw_distance") {
    srandom(init.at("seed"));
    const size_t n = init.at("n");
    return filled<uint32_t>(count, [&](size_t i) { return i / n == i % n ? 0u : draw() % 100 + 1; });
  }
  if (kind == "row_index") {
    const size_t n = init.at("n");
    return filled<uint32_t>(count, [&](size_t i) { return uint32_t(i / n); });
  }
  if (kind == "bfs_levels") return filled<uint32_t>(count, [](size_t i) { return i ? 0xffffffffu : 0u; });
  if (kind.starts_with("bfs_")) {
    const Graph graph = random_graph(init.at("nodes"), init.at("degree"), init.at("seed"));
    return bytes_of(kind == "bfs_row_offsets" ? graph.offsets : graph.columns);
  }
  if (kind.starts_with("pagerank_")) {
    const Graph links = random_links(init.at("nodes"), init.at("seed"));
    if (kind == "pagerank_values") return link_weights(links);
    return bytes_of(kind == "pagerank_row_offsets" ? links.offsets : links.columns);
  }
  return {};
}

} // namespace asmevo::machine::mi300a
