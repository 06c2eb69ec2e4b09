// A fake device with K0 and its reference, and candidates to judge.
#pragma once

#include "oracle/fake_device.h"

#include <gtest/gtest.h>

namespace asmevo::oracle::testing {

inline constexpr std::string_view text = R"({
  "workgroups": 1, "workgroup_size": 64,
  "sizes": {"rows": 16, "columns": 64},
  "buffers": {
    "in": {"dtype": "f32", "shape": ["rows", "columns"], "role": "in"},
    "out": {"dtype": "f32", "shape": ["rows", "columns"], "role": "out"}
  },
  "arguments": [{"buffer": "in"}, {"buffer": "out"}, {"i32": "rows"}, {"i32": 3, "name": "three"}],
  "cases": [{"name": "main"}, {"name": "small", "sizes": {"rows": 3}}]
})";

/// out = 2 * in + 1
inline void affine(World& w) {
  auto in = w.floats("in"), out = w.floats("out");
  for (size_t i = 0; i < in.size(); ++i) out[i] = 2 * in[i] + 1;
}

struct Bench {
  FakeDevice device;
  launch::Launch launch;
  std::optional<Reference> reference;
  std::string error;

  explicit Bench(Kernel k0 = affine, std::string_view launch_text = text) {
    auto parsed = launch::parse_launch(launch_text, "l.json");
    EXPECT_TRUE(parsed) << parsed.error().message;
    launch = *parsed;
    auto made = Reference::create(device, device.add("k0", std::move(k0)), launch, default_policy());
    if (made)
      reference.emplace(std::move(*made));
    else
      error = made.error().message;
  }

  Judgement judge(Kernel candidate, Options options = {}) {
    EXPECT_TRUE(reference) << error;
    auto judgement = verify(device, *reference, device.add("k1", std::move(candidate)), options);
    EXPECT_TRUE(judgement) << judgement.error().message;
    EXPECT_LE(judgement->evidence.size(), 4096u);
    return *judgement;
  }

  bool has_note(std::string_view part) const {
    for (const std::string& note : reference->notes())
      if (note.find(part) != note.npos) return true;
    return false;
  }
};

inline std::string replaced(std::string_view from, std::string_view to) {
  std::string result(text);
  size_t at = result.find(from);
  EXPECT_NE(at, result.npos) << from;
  return result.replace(at, from.size(), to);
}

} // namespace asmevo::oracle::testing
