// Runs a few lines of assembly as a kernel of one wave, from registers the test gives to registers it looks at.
#pragma once

#include "isa/codec.h"
#include "machine/dispatch.h"
#include "machine/execute.h"
#include "tested.h"

#include <gtest/gtest.h>

namespace asmevo::machine {

inline const isa::Codec& codec_for(isa::Processor processor) {
  static std::map<isa::Processor, isa::Codec> codecs;
  auto place = codecs.find(processor);
  if (place == codecs.end()) {
    auto codec = isa::Codec::create(isa::Target{.processor = processor});
    EXPECT_TRUE(codec) << codec.error().message;
    place = codecs.emplace(processor, std::move(*codec)).first;
  }
  return place->second;
}

/// One wave (or one workgroup) of a kernel made of `text`, which need not end with s_endpgm.
class Program {
public:
  Memory memory;
  isa::Resources resources{.vgprs = 64, .agprs = 64, .accum_offset = 64, .lds_bytes = 4096};

  explicit Program(const std::string& text, isa::Processor processor = isa::Processor::gfx942) : processor_(processor) {
    auto bytes = codec_for(processor).assemble(text + "\ns_endpgm\n");
    EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message) << " in line " << (bytes ? 0 : bytes.error().line);
    if (bytes) bytes_ = *bytes;
  }

  /// Makes the wave; its registers can then be set.
  Program& start(uint32_t work_items = 64) {
    auto image = Image::from_text(bytes_, codec_for(processor_), resources);
    EXPECT_TRUE(image) << image.error().message;
    image_ = *image;
    dispatch_.kernel = &image_->object().kernels.front();
    dispatch_.workgroup_size = {work_items, 1, 1};
    auto plan = plan_launch(*image_, dispatch_, memory);
    EXPECT_TRUE(plan) << plan.error().message;
    plan_ = std::make_unique<LaunchPlan>(std::move(*plan));
    auto scratch = Scratch::map(*plan_, memory, 1);
    EXPECT_TRUE(scratch) << scratch.error().message;
    scratch_ = std::make_unique<Scratch>(std::move(*scratch));
    residence_ = std::make_unique<Residence>(*plan_, memory, *scratch_, 0);
    residence_->begin(0, nullptr);
    return *this;
  }
  Program& run(uint64_t limit = 100'000) {
    if (!residence_) start();
    turn_ = Executor(Schedule::round_robin, 0).run(*residence_, limit);
    return *this;
  }

  /// Notes the instructions of the text as tested: the caller has compared what they do.
  void note() const {
    for (const isa::Instruction& i : image_->instructions()) note_tested(isa::name_of(i), processor_);
  }

  TurnEnd end() const { return turn_.end; }
  uint64_t instructions() const { return turn_.instructions; }
  std::string fault() { return residence_->group().fault ? residence_->group().fault->message : ""; }
  Wave& wave(uint32_t id = 0) { return residence_->waves()[id]; }
  uint32_t& s(uint32_t number) { return wave().sgpr[number]; }
  uint64_t s64(uint32_t number) { return wave().read64(number); }
  void set64(uint32_t number, uint64_t value) { wave().write64(number, value); }
  Row& v(uint32_t number) { return wave().spaces[unsigned(RowSpace::vgpr)][number]; }
  Row& a(uint32_t number) { return wave().spaces[unsigned(RowSpace::agpr)][number]; }
  template <class F> void fill(uint32_t number, F f) {
    for (unsigned i = 0; i < lanes; ++i) v(number).lane[i] = uint32_t(f(i));
  }
  template <class T> T lds(uint32_t at) {
    T value;
    std::memcpy(&value, wave().lds + at, sizeof value);
    return value;
  }
  const Image& image() const { return *image_; }

private:
  isa::Processor processor_;
  Bytes bytes_;
  std::optional<Image> image_;
  Dispatch dispatch_;
  std::unique_ptr<LaunchPlan> plan_;
  std::unique_ptr<Scratch> scratch_;
  std::unique_ptr<Residence> residence_;
  Turn turn_;
};

} // namespace asmevo::machine
