#include "device/device.h"

#include "assembled.h"
#include "device/capture_case.h"
#include "launch/capture.h"
#include "support/file.h"

#include <cstring>
#include <filesystem>

using namespace asmevo;
using namespace asmevo::device;
using namespace asmevo::testing;

namespace {

std::unique_ptr<Device> make_device() {
  auto device = make_simulated({.processor = isa::Processor::gfx942}, "");
  EXPECT_TRUE(device) << device.error().message;
  return *std::move(device);
}

Outcome run(const std::string& body, const launch::Launch& launch = add_launch(), const LaunchOptions& options = {}) {
  auto device = make_device();
  auto loaded = device->load(assembled(body));
  EXPECT_TRUE(loaded) << loaded.error().message;
  auto outcome = device->launch(*loaded, launch.cases[0], options);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return *std::move(outcome);
}

int32_t element(std::span<const uint8_t> bytes, size_t i) {
  int32_t value;
  std::memcpy(&value, &bytes[i * 4], 4);
  return value;
}

void expect_sum(const Outcome& outcome, const launch::Launch& launch) {
  EXPECT_EQ(outcome.status, machine::Status::completed) << (outcome.fault ? outcome.fault->message : "");
  Bytes in = launch::initial_bytes(launch.cases[0], *launch.cases[0].buffer("in"), 0).value();
  ASSERT_EQ(outcome.buffers.at("out").size(), 1024u);
  for (size_t i = 0; i < 256; ++i) EXPECT_EQ(element(outcome.buffers.at("out"), i), element(in, i) + 7) << i;
}

} // namespace

TEST(SimDevice, runs_a_kernel_on_its_case_and_reads_results_back) {
  Outcome outcome = run(add_n);
  expect_sum(outcome, add_launch());
  EXPECT_TRUE(outcome.guard_damage.empty());
  EXPECT_TRUE(outcome.read_only_damage.empty());
  EXPECT_EQ(outcome.instructions, 4u * 10);
  EXPECT_FALSE(outcome.buffers.contains("in"));
}

TEST(SimDevice, says_that_it_is_simulated_and_which_part_it_is) {
  EXPECT_EQ(make_device()->description(), "simulated MI300X");
  EXPECT_TRUE(make_device()->simulated());
  EXPECT_FALSE(make_simulated({.processor = isa::Processor::gfx942}, "Voodoo 2"));
}

TEST(SimDevice, results_do_not_depend_on_where_buffers_lie) {
  for (unsigned placement : {1u, 2u, 3u, 9u})
    expect_sum(run(add_n, add_launch(), {.placement = placement}), add_launch());
}

TEST(SimDevice, a_kernel_has_its_scratch_beside_code_and_buffers) {
  auto device = make_device();
  auto loaded = device->load(assembled(prologue + "v_mov_b32_e32 v2, 9\n scratch_store_dword off, v2, off offset:4\n"
                                                  " s_waitcnt vmcnt(0)\n scratch_load_dword v3, off, off offset:4\n"
                                                  " s_waitcnt vmcnt(0)\n global_store_dword v1, v3, s[6:7]\n",
                                       "k.o", 16));
  ASSERT_TRUE(loaded) << loaded.error().message;
  for (unsigned placement : {0u, 1u, 9u}) {
    auto outcome = device->launch(*loaded, add_launch().cases[0], {.placement = placement});
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_EQ(outcome->status, machine::Status::completed) << (outcome->fault ? outcome->fault->message : "");
    EXPECT_EQ(element(outcome->buffers.at("out"), 255), 9);
  }
}

TEST(SimDevice, a_store_past_the_end_of_a_buffer_is_seen_in_its_guard) {
  Outcome outcome = run(prologue + "v_mov_b32_e32 v2, 9\n global_store_dword v1, v2, s[6:7] offset:4\n");
  ASSERT_EQ(outcome.guard_damage.size(), 1u);
  EXPECT_EQ(outcome.guard_damage[0], "guard after `out`: 4 bytes changed at +0");
}

TEST(SimDevice, a_store_before_a_buffer_is_seen_in_its_guard) {
  Outcome outcome = run(prologue + "v_mov_b32_e32 v2, 9\n global_store_dword v1, v2, s[6:7] offset:-8\n");
  ASSERT_EQ(outcome.guard_damage.size(), 1u);
  EXPECT_EQ(outcome.guard_damage[0], "guard before `out`: 8 bytes changed at -8");
}

TEST(SimDevice, a_store_to_an_input_is_reported_with_its_place) {
  Outcome outcome = run(prologue + "v_mov_b32_e32 v2, 9\n global_store_dword v1, v2, s[4:5] offset:16\n");
  ASSERT_EQ(outcome.read_only_damage.size(), 1u);
  // .text is laid out at 0x1000; the store is its seventh instruction, 0x24 bytes in.
  EXPECT_EQ(outcome.read_only_damage[0], "global_store_dword writes 4 bytes at +0x10 of `in`, which is read-only "
                                         "(workgroup 0, wave 0, lane 0, at 0x1024 of the object)");
  EXPECT_NE(outcome.status, machine::Status::completed);
}

TEST(SimDevice, an_access_beyond_the_guards_is_a_fault_that_names_the_buffer) {
  Outcome outcome =
      run(prologue + "v_add_u32_e32 v1, 0x10000, v1\n global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(0)\n");
  EXPECT_EQ(outcome.status, machine::Status::fault);
  ASSERT_TRUE(outcome.fault);
  EXPECT_EQ(outcome.fault->message, "global_load_dword reads 64516 bytes past the end of `in`");
  EXPECT_TRUE(outcome.read_only_damage.empty());
}

TEST(SimDevice, an_endless_loop_ends_with_the_budget) {
  LaunchOptions options;
  options.run.instruction_budget = 10'000;
  Outcome outcome = run("loop:\n s_branch loop\n", add_launch(), options);
  EXPECT_EQ(outcome.status, machine::Status::budget);
}

TEST(SimDevice, an_earlier_launch_leaves_its_results_behind) {
  launch::Launch launch = add_launch();
  // out[i] = out[i] + n: only the earlier results make this a number.
  std::string accumulate = prologue + R"(
    global_load_dword v2, v1, s[6:7]
    s_waitcnt vmcnt(0)
    v_add_u32_e32 v2, s8, v2
    global_store_dword v1, v2, s[6:7]
  )";
  Outcome once = run(accumulate, launch),
          twice = run(accumulate, launch, {.earlier = {{.c = launch.cases[0], .schedule = {}}}});
  for (size_t i = 0; i < 256; ++i) EXPECT_EQ(element(twice.buffers["out"], i), element(once.buffers["out"], i) + 7);
}

TEST(SimDevice, an_earlier_launch_can_be_looked_at_and_end_it_all) {
  launch::Launch launch = add_launch(), other = add_launch();
  other.cases[0].seed = 5;
  std::map<std::string, Contents> earlier;
  LaunchOptions options{.earlier = {{.c = other.cases[0], .schedule = machine::Schedule::late_loads}}};
  bool goes_on = true;
  options.on_earlier = [&](const Outcome& outcome) {
    earlier["out"] = Contents(Bytes(outcome.buffers.at("out").begin(), outcome.buffers.at("out").end()));
    return goes_on;
  };
  const std::string add = prologue + R"(
    global_load_dword v2, v1, s[4:5]
    s_waitcnt vmcnt(0)
    global_store_dword v1, v2, s[6:7]
  )";
  const Outcome second = run(add, launch, options);
  EXPECT_EQ(earlier["out"], run(add, other).buffers["out"]);
  EXPECT_EQ(second.buffers.at("out"), run(add, launch).buffers["out"]);
  EXPECT_NE(earlier["out"], second.buffers.at("out"));
  goes_on = false;
  EXPECT_EQ(run(add, launch, options).buffers.at("out"), earlier["out"]);
}

TEST(SimDevice, poison_follows_its_seed) {
  Outcome one = run("s_nop 0\n", add_launch(), {.poison_seed = 1}),
          two = run("s_nop 0\n", add_launch(), {.poison_seed = 2});
  EXPECT_NE(one.buffers["out"], two.buffers["out"]);
}

TEST(SimDevice, registers_and_LDS_that_nothing_wrote_follow_their_seed) {
  std::string store_v9 = prologue + "global_store_dword v1, v9, s[6:7]\n";
  std::string store_lds = prologue + R"(
    s_mov_b32 m0, -1
    ds_read_b32 v2, v1
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v2, s[6:7]
  )";
  launch::Launch launch = add_launch(", \"dynamic_lds\": 4096");
  for (const std::string& body : {store_v9, store_lds}) {
    LaunchOptions zeros, one, two;
    one.run.undefined_seed = 1;
    two.run.undefined_seed = 2;
    const Contents a = run(body, launch, zeros).buffers["out"], b = run(body, launch, one).buffers["out"],
                   c = run(body, launch, two).buffers["out"];
    EXPECT_EQ(a, Bytes(1024, 0));
    EXPECT_NE(b, a);
    EXPECT_NE(b, c);
    EXPECT_EQ(run(body, launch, one).buffers["out"], b);
  }
}

TEST(SimDevice, refuses_an_object_for_another_processor) {
  auto device = make_simulated({.processor = isa::Processor::gfx90a}, "");
  ASSERT_TRUE(device) << device.error().message;
  auto loaded = (*device)->load(assembled(add_n));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, "k.o: is for gfx942, the device is a gfx90a");
}

TEST(SimDevice, gives_a_time_that_is_the_same_each_time) {
  auto device = make_device();
  auto loaded = device->load(assembled(add_n));
  auto a = device->time(*loaded, add_launch().cases[0], {.draws = 4}),
       b = device->time(*loaded, add_launch().cases[0], {.draws = 4});
  ASSERT_TRUE(a) << a.error().message;
  EXPECT_EQ(a->seconds, b->seconds);
  EXPECT_EQ(a->seconds.size(), 4u);
  EXPECT_GT(a->median, 0);
}

TEST(SimDevice, a_captured_case_replays_with_the_same_results) {
  launch::Launch launch = add_launch();
  auto object = assembled(add_n);
  auto capture = capture_case(*object, launch.cases[0], "simulated MI300X");
  ASSERT_TRUE(capture) << capture.error().message;
  std::string directory = ::testing::TempDir() + "replayed";
  std::filesystem::remove_all(directory);
  ASSERT_TRUE(launch::write_capture(directory, *capture));
  auto replayed = launch::read_launch(directory);
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_TRUE(launch::check_launch(*replayed, *object, object->kernels[0]));
  auto device = make_device();
  auto outcome = device->launch(*device->load(object), replayed->cases[0], {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_sum(*outcome, launch);
}

TEST(SimDevice, a_kernel_that_asks_for_preloaded_arguments_loads_them_itself_where_firmware_does_not) {
  const std::string base = ASMEVO_SOURCE_DIR "/corpus/softmax";
  auto bytes = read_file(base + ".hsaco");
  ASSERT_TRUE(bytes) << bytes.error().message;
  auto object = object::read_code_object(*std::move(bytes), base);
  ASSERT_TRUE(object) << object.error().message;
  ASSERT_NE(object->kernels.front().descriptor.kernarg_preload() & 0x7f, 0);
  auto launch = launch::read_launch(base + ".json");
  ASSERT_TRUE(launch) << launch.error().message;
  const launch::Case& narrow = launch->cases.at(2);
  auto device = make_device();
  auto loaded = device->load(std::make_shared<const object::CodeObject>(*std::move(object)));
  ASSERT_TRUE(loaded) << loaded.error().message;
  auto with = device->launch(*loaded, narrow, {}), without = device->launch(*loaded, narrow, {.preload = false});
  ASSERT_TRUE(with && without);
  EXPECT_EQ(with->buffers, without->buffers);
  EXPECT_GT(without->instructions, with->instructions);
}

TEST(SimDevice, tells_who_stored_to_a_byte_last_and_where_nobody_did) {
  auto device = make_device();
  const std::string skip_the_last =
      prologue + "v_cmp_gt_u32_e32 vcc, 0xff, v0\ns_and_b64 exec, exec, vcc\n" + add_n.substr(prologue.size());
  auto loaded = device->load(assembled(skip_the_last));
  ASSERT_TRUE(loaded) << loaded.error().message;
  auto outcome = device->launch(*loaded, add_launch().cases[0], {.watched = {{"out", 4 * 70 + 3}, {"out", 4 * 255}}});
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(outcome->writers.size(), 2u);
  ASSERT_TRUE(outcome->writers[0]);
  EXPECT_EQ(outcome->writers[0]->workgroup, 1u);
  EXPECT_EQ(outcome->writers[0]->lane, 6u);
  EXPECT_EQ(outcome->writers[0]->mnemonic, "global_store_dword");
  EXPECT_FALSE(outcome->writers[1]);
}
