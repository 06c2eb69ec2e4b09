// Programs from assembly text, for tests of the analyses: labels, instructions and one function around them.
#pragma once

#include "isa/codec.h"
#include "recover/program.h"

#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace asmevo::analysis {

inline const isa::Codec& codec_of(isa::Processor processor) {
  static std::map<isa::Processor, isa::Codec> codecs;
  auto found = codecs.find(processor);
  if (found == codecs.end()) {
    auto codec = isa::Codec::create({.processor = processor});
    if (!codec) throw std::runtime_error(codec.error().message);
    found = codecs.emplace(processor, *std::move(codec)).first;
  }
  return found->second;
}

inline std::string trimmed(std::string line) {
  line = line.substr(0, line.find(';'));
  const size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : line.substr(first, last - first + 1);
}

/// `text` with the labels that its branches name and it does not define put behind its end.
inline std::string with_missing_labels(const std::string& text) {
  std::string result = text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line);
    if (!line.starts_with("s_branch ") && !line.starts_with("s_cbranch_")) continue;
    const std::string label = line.substr(line.find(' ') + 1) + ":";
    if (("\n" + result).find("\n" + label) == std::string::npos && result.find(" " + label) == std::string::npos)
      result += "\n" + label + "\n";
  }
  return result;
}

/// One function, a kernel unless `kernel` is -1. Each line is a label or one instruction.
inline recover::Program assemble(const std::string& text, isa::Processor processor = isa::Processor::gfx942,
                                 int kernel = 0) {
  const isa::Codec& codec = codec_of(processor);
  const auto bytes = codec.assemble(with_missing_labels(text));
  EXPECT_TRUE(bytes.has_value()) << (bytes ? "" : bytes.error().message) << "\n" << text;
  recover::Program program;
  program.target = codec.target();
  program.declared.resize(1);
  program.declared[0] = {
      .vgprs = 256, .agprs = 256, .sgprs = 102, .accum_offset = 256, .lds_bytes = 65536, .uses_vcc = true};
  if (!bytes) return program;
  std::istringstream lines(text);
  size_t at = 0;
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line);
    if (line.empty()) continue;
    recover::Item item;
    item.text = line;
    if (line.ends_with(':')) {
      item.kind = recover::ItemKind::label;
      item.text.pop_back();
    } else {
      item.instruction = codec.decode(std::span(*bytes).subspan(at), at);
      item.origin = static_cast<int64_t>(at);
      at += item.instruction.size;
      const isa::Traits traits = item.instruction.traits;
      if (traits.branch && !traits.indirect) item.target = line.substr(line.find_last_of(" ,") + 1);
    }
    program.items.push_back(std::move(item));
  }
  EXPECT_EQ(at, bytes->size()) << text;
  program.functions.push_back({.name = "f", .first = 0, .last = program.items.size(), .kernel = kernel});
  return program;
}

} // namespace asmevo::analysis
