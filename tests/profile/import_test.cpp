// Files of profilers: what each format says, and that it is checked against the object.
#include "profile/import.h"

#include "support/file.h"
#include "timing/traced.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sqlite3.h>

namespace asmevo::profile {
namespace {

namespace fs = std::filesystem;

/// A folder that goes away with it.
struct Folder {
  fs::path path = fs::temp_directory_path() / fmt::format("asmevo-import-{}-{}", getpid(), std::random_device{}());
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    const std::string file = (path / name).string();
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
};

/// The object that profiles are of: two kernels.
struct Object {
  timing::Traced traced{"v_mov_b32_e32 v0, v1\n"              // 0x0
                        "global_load_dword v1, v[2:3], off\n" // 0x4
                        "s_waitcnt vmcnt(0)\n"                // 0xc
                        "v_add_f32_e32 v0, v0, v1\n"          // 0x10
                        "ds_write_b32 v4, v0\n"               // 0x14
                        "s_waitcnt lgkmcnt(0)\n"              // 0x1c
                        "s_barrier\n"                         // 0x20
                        "s_waitcnt vmcnt(0) lgkmcnt(0)\n"     // 0x24
                        "v_add_f32_e32 v0, v0, v1\n"          // 0x28
                        "s_endpgm\n"                          // 0x2c
                        "v_mul_f32_e32 v0, v0, v1\n"          // 0x30, the second kernel
                        "s_endpgm\n"};                        // 0x34
  object::CodeObject object;

  Object() {
    object.path = "k.hsaco";
    object.kernels = {{.name = "_Z5firstPf", .entry_address = 0, .code_size = 0x30},
                      {.name = "second", .entry_address = 0x30, .code_size = 8}};
  }
  Subject subject(const char* kernel = nullptr) const {
    Subject s{.object = object, .code = traced.code, .codec = timing::codec_for(traced.target)};
    for (const object::Kernel& k : object.kernels)
      if (kernel && k.name == kernel) s.kernel = &k;
    return s;
  }
};

const Object& object() {
  static const Object o;
  return o;
}

Result<Profile> import(const std::string& text, const std::string& name = "p.json", const char* kernel = nullptr) {
  const Folder folder;
  auto profile = import_profile(folder.write(name, text), object().subject(kernel));
  if (!profile) { // the folder's name differs from run to run
    std::string& message = profile.error().message;
    const std::string prefix = folder.path.string() + "/";
    for (size_t at; (at = message.find(prefix)) != message.npos;) message.erase(at, prefix.size());
  }
  return profile;
}

double stall(const Profile& p, uint64_t address, Reason reason) {
  const Row* row = p.at(address);
  return row ? row->stalls[size_t(reason)] : 0;
}

// --- code.json

const std::string pc_header =
    R"("header":["ISA","_","LineNumber","Source","Codeobj","Vaddr","Hit","Latency","Stall","Idle","PC_Issued","PC_Stalled","Stall_Reasons"])";
const std::string trace_header = R"("header":"ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle")";

std::string code_json(const std::string& rows, const std::string& header = pc_header) {
  return R"({"code":[)" + rows + "]," + header + R"(,"version":"3.0.0"})";
}
std::string pc_row(const std::string& text, uint64_t address, int issued, int stalled, const std::string& reasons) {
  return fmt::format(R"(["{}",0,1,"",2,{},0,0,0,0,{},{},[{}]])", text, address, issued, stalled, reasons);
}

// --- samples of rocprofv3

std::string sample(int object, int offset, int instruction, const std::string& rest) {
  return fmt::format(
      R"({{"record":{{"hw_id":{{"chiplet":0}},"pc":{{"code_object_id":{},"code_object_offset":{}}},"dispatch_id":1{}}},"inst_index":{}}})",
      object, offset, rest, instruction);
}
std::string issued(int flag, const std::string& reason = "OTHER_WAIT") {
  return fmt::format(
      R"(,"wave_issued":{},"snapshot":{{"stall_reason":"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_{}"}})",
      flag, reason);
}
std::string samples_json(const std::string& stochastic, const std::string& host_trap, const std::string& texts) {
  return R"({"rocprofiler-sdk-tool":[{"buffer_records":{"hip_api":[1,2],"pc_sample_stochastic":[)" + stochastic +
         R"(],"pc_sample_host_trap":[)" + host_trap + R"(]},"strings":{"pc_sample_instructions":[)" + texts + "]}}]}";
}

const std::string csv_header =
    "\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\",\"Instruction_Comment\","
    "\"Correlation_Id\",\"Wave_Issued_Instruction\",\"Instruction_Type\",\"Stall_Reason\","
    "\"Wave_Count\"\n";
std::string csv_row(int dispatch, const std::string& text, int flag, const std::string& reason = "NONE") {
  return fmt::format("1,18446744073709551615,{},\"{}\",\"a, b\",1,{},\"X\",\"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_"
                     "ISSUED_REASON_{}\",4\n",
                     dispatch, text, flag, reason);
}

// --- rocpd

void execute(sqlite3* database, const std::string& sql) {
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << (error ? error : "");
  sqlite3_free(error);
}

Result<Profile> import_database(const std::string& sql) {
  const Folder folder;
  const std::string path = (folder.path / "p.db").string();
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  execute(database, sql);
  sqlite3_close(database);
  return import_profile(path, object().subject());
}

const std::string samples_table =
    "CREATE TABLE rocpd_gpu_pc_sample_00a1 (id INTEGER PRIMARY KEY, guid TEXT, code_object_id INTEGER, "
    "code_object_offset INTEGER, dispatch_id INTEGER, wave_issued INTEGER, stall_reason INTEGER);"
    "CREATE VIEW rocpd_gpu_pc_sample AS SELECT * FROM rocpd_gpu_pc_sample_00a1;"
    "CREATE VIEW rocpd_gpu_pc_sample_named AS SELECT * FROM rocpd_gpu_pc_sample;"
    "CREATE TABLE rocpd_disassembly_data_00a1 (guid TEXT, code_object_id INTEGER, code_object_offset INTEGER, "
    "instruction TEXT, comment TEXT);";

} // namespace

TEST(code_json, counts_samples_by_reason_and_tells_counters_apart) {
  const auto p = import(code_json(pc_row("; first", 0, 0, 0, "0,0,0,0,0,0,0,0,0,0") + "," +
                                  pc_row("v_mov_b32_e32 v0, v1", 0, 5, 3, "0,1,2,0,0,0,0,0,0,0") + "," +
                                  pc_row("global_load_dword v1, v[2:3], off", 4, 1, 4, "0,0,0,0,0,0,1,3,0,0") + "," +
                                  pc_row("s_waitcnt vmcnt(0)", 12, 0, 9, "0,0,0,9,0,0,0,0,0,0") + "," +
                                  pc_row("ds_write_b32 v4, v0", 20, 0, 2, "0,0,0,0,0,0,0,2,0,0") + "," +
                                  pc_row("s_waitcnt lgkmcnt(0)", 28, 0, 7, "0,0,0,7,0,0,0,0,0,0") + "," +
                                  pc_row("s_barrier", 32, 0, 6, "0,0,0,0,0,6,0,0,0,0") + "," +
                                  pc_row("s_waitcnt vmcnt(0) lgkmcnt(0)", 36, 0, 8, "0,0,0,5,1,0,0,0,0,1")));
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->unit, "samples");
  EXPECT_FALSE(p->exposure);
  EXPECT_EQ(p->at(0)->issue, 5);
  EXPECT_EQ(stall(*p, 0, Reason::fetch), 1);
  EXPECT_EQ(stall(*p, 0, Reason::dependency), 2);
  EXPECT_EQ(stall(*p, 4, Reason::not_selected), 1);
  EXPECT_EQ(stall(*p, 4, Reason::memory_throughput), 3);
  EXPECT_EQ(stall(*p, 12, Reason::vmcnt), 9);
  EXPECT_EQ(stall(*p, 20, Reason::lds_conflict), 2);
  EXPECT_EQ(stall(*p, 28, Reason::lgkmcnt), 7);
  EXPECT_EQ(stall(*p, 32, Reason::barrier), 6);
  EXPECT_EQ(stall(*p, 36, Reason::wait), 5);
  EXPECT_EQ(stall(*p, 36, Reason::internal), 1);
  EXPECT_EQ(stall(*p, 36, Reason::sleep), 1);
  EXPECT_EQ(stall(*p, 36, Reason::unknown), 1); // stalled, but under no reason
  EXPECT_EQ(p->total(), 45);
}

TEST(code_json, takes_clocks_of_a_thread_trace_apart) {
  const auto p = import(code_json(R"(["v_mov_b32_e32 v0, v1",0,1,"a.cpp:1",2,0,10,52,12,30],)"
                                  R"x(["s_waitcnt vmcnt(0)",0,2,"",2,12,10,900,860,0])x",
                                  trace_header));
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->unit, "clk");
  EXPECT_EQ(p->at(0)->issues, 10);
  EXPECT_EQ(p->at(0)->issue, 40);
  EXPECT_EQ(stall(*p, 0, Reason::pipe_busy), 12);
  EXPECT_EQ(stall(*p, 0, Reason::other), 30);
  EXPECT_EQ(stall(*p, 12, Reason::vmcnt), 860);
}

TEST(code_json, is_found_in_the_folder_that_a_viewer_opens) {
  const Folder folder;
  fs::create_directories(folder.path / "ui_output_agent_1_dispatch_2");
  folder.write("ui_output_agent_1_dispatch_2/code.json",
               code_json(pc_row("s_endpgm", 0x2c, 1, 0, "0,0,0,0,0,0,0,0,0,0")));
  EXPECT_TRUE(import_profile((folder.path / "ui_output_agent_1_dispatch_2").string(), object().subject()));
  EXPECT_TRUE(import_profile(folder.path.string(), object().subject()));
  fs::create_directories(folder.path / "ui_output_agent_1_dispatch_3");
  folder.write("ui_output_agent_1_dispatch_3/code.json", "{}");
  const auto two = import_profile(folder.path.string(), object().subject());
  ASSERT_FALSE(two);
  EXPECT_NE(two.error().message.find("has 2 traces"), std::string::npos);
}

TEST(code_json, text_that_differs_is_an_error_that_says_both) {
  const auto p = import(code_json(pc_row("v_add_f32_e32 v0, v0, v2", 16, 1, 0, "0")));
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().message, "p.json: address 0x10: the profile says `v_add_f32_e32 v0, v0, v2`, k.hsaco has "
                               "`v_add_f32_e32 v0, v0, v1`");
}

TEST(code_json, an_address_inside_an_instruction_is_an_error) {
  const auto p = import(code_json(pc_row("s_nop 0", 8, 1, 0, "0")));
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().message, "p.json: address 0x8: the profile says `s_nop 0`, k.hsaco has no instruction there");
}

TEST(code_json, the_same_instruction_in_other_words_is_the_same) {
  const auto p = import(code_json(pc_row("s_waitcnt  vmcnt(0)&lgkmcnt(0) // 000024: BF8C0070", 36, 1, 0, "0") + "," +
                                  pc_row("v_mov_b32_e32 v[0], v1", 0, 1, 0, "0")));
  EXPECT_TRUE(p) << p.error().message;
}

TEST(code_json, says_which_element_is_damaged) {
  EXPECT_EQ(import(R"({"code":null,)" + pc_header + "}").error().message,
            "p.json: has no code: the trace was not decoded");
  EXPECT_EQ(import(code_json("[1,2]")).error().message, "p.json: code[0]: ISA is no text");
  EXPECT_EQ(import(code_json(pc_row("s_endpgm", 0x2c, 1, 1, "0,2"))).error().message,
            "p.json: code[0]: 2 samples by reason, but 1 stalled in all");
  EXPECT_EQ(import(code_json(R"(["s_endpgm",0,1,"",2,"0x2c",0,0,0,0,0,0,[]])")).error().message,
            "p.json: code[0]: Vaddr is no address");
  EXPECT_EQ(import(R"({"code":[],"header":["ISA"]})").error().message, "p.json: its header has no column Vaddr");
}

TEST(code_json, of_a_real_kernel_matches_the_code_that_it_prints) {
  const char* data = std::getenv("ASMEVO_DATA");
  const fs::path path = fs::path(data ? data : ASMEVO_SOURCE_DIR "/../shared/data") / "pcsampling";
  if (!fs::exists(path)) GTEST_SKIP() << "no " << path << " (set ASMEVO_DATA)";
  const auto file = read_text_file((path / "code.json").string());
  ASSERT_TRUE(file);
  const auto document = nlohmann::json::parse(*file);
  std::string text;
  uint64_t base = 0;
  double samples = 0;
  for (const auto& row : document.at("code")) {
    if (row[0].get<std::string>().starts_with(";")) continue;
    if (text.empty()) base = row[5];
    text += row[0].get<std::string>() + "\n";
    samples += row[10].get<double>() + row[11].get<double>();
  }
  const isa::Codec& codec = timing::codec_for({});
  const auto bytes = codec.assemble(text);
  ASSERT_TRUE(bytes);
  std::vector<isa::Instruction> code;
  for (size_t at = 0; at < bytes->size(); at += code.back().size)
    code.push_back(codec.decode(std::span(*bytes).subspan(at), base + at));
  object::CodeObject object;
  object.path = "gemm.hsaco";
  const auto p = import_profile(path.string(), {.object = object, .code = code, .codec = codec});
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_TRUE(p->notes.empty());
  EXPECT_EQ(p->total(), samples);
  double at_barriers = 0, barrier = 0;
  for (const isa::Instruction& i : code) {
    if (i.traits.barrier) at_barriers += stall(*p, i.address, Reason::barrier);
    barrier += stall(*p, i.address, Reason::barrier);
  }
  EXPECT_GT(barrier, 700);
  EXPECT_EQ(at_barriers, barrier);
}

TEST(samples_json, are_counted_at_their_addresses) {
  const auto p = import(samples_json(sample(3, 12, 0, issued(0, "WAITCNT")) + "," +
                                         sample(3, 12, 0, issued(0, "WAITCNT")) + "," + sample(3, 16, 1, issued(1)),
                                     sample(3, 16, 1, ""), R"x("s_waitcnt vmcnt(0)","v_add_f32_e32 v0, v0, v1")x"));
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(stall(*p, 12, Reason::vmcnt), 2);
  EXPECT_EQ(p->at(16)->issue, 1);
  EXPECT_EQ(stall(*p, 16, Reason::unknown), 1); // host trap
}

TEST(samples_json, of_other_code_objects_are_left_out) {
  const auto p = import(samples_json(sample(3, 16, 1, issued(1)) + "," + sample(4, 16, 0, issued(1)), "",
                                     R"("s_nop 7","v_add_f32_e32 v0, v0, v1")"));
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->total(), 1);
  ASSERT_EQ(p->notes.size(), 1u);
  EXPECT_EQ(p->notes[0], "1 samples of other code objects were left out");
}

TEST(samples_json, without_text_need_one_object_that_fits) {
  const auto one = import(samples_json(sample(3, 16, -1, issued(1)), "", ""));
  ASSERT_TRUE(one);
  EXPECT_EQ(one->notes.at(0), "the file does not say what instructions it means: only addresses were compared");
  const auto two = import(samples_json(sample(3, 16, -1, issued(1)) + "," + sample(4, 12, -1, issued(1)), "", ""));
  ASSERT_FALSE(two);
  EXPECT_NE(two.error().message.find("2 code objects could be k.hsaco"), std::string::npos);
}

TEST(samples_json, keep_to_the_kernel_that_is_asked_for) {
  const std::string text = samples_json(sample(3, 16, -1, issued(1)) + "," + sample(3, 0x30, -1, issued(1)), "", "");
  const auto p = import(text, "p.json", "second");
  ASSERT_TRUE(p) << p.error().message;
  ASSERT_EQ(p->rows.size(), 1u);
  EXPECT_EQ(p->rows[0].address, 0x30u);
  EXPECT_EQ(p->notes.back(), "1 samples outside of second were left out");
}

TEST(samples_json, say_which_record_is_damaged) {
  EXPECT_EQ(import(samples_json(sample(3, 16, 5, issued(1)), "", "\"a\"")).error().message,
            "p.json: pc_sample_stochastic[0]: inst_index 5 is not in pc_sample_instructions");
  EXPECT_EQ(import(samples_json(sample(3, 16, -1, issued(0, "BOREDOM")), "", "")).error().message,
            "p.json: pc_sample_stochastic[0]: did not issue, and has no stall_reason that is known");
  EXPECT_EQ(import(samples_json("{}", "", "")).error().message,
            "p.json: pc_sample_stochastic[0]: has no code_object_id and code_object_offset");
}

TEST(samples_csv, go_to_the_instruction_that_has_their_text) {
  const auto p =
      import(csv_header + csv_row(1, "s_waitcnt vmcnt(0)", 0, "WAITCNT") + csv_row(1, "s_barrier", 1), "p.csv");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(stall(*p, 12, Reason::vmcnt), 1);
  EXPECT_EQ(p->at(32)->issue, 1);
  EXPECT_TRUE(p->notes.empty());
}

TEST(samples_csv, of_an_instruction_that_occurs_twice_are_spread_and_it_says_so) {
  const auto p = import(csv_header + csv_row(1, "v_add_f32_e32 v0, v0, v1", 1) + csv_row(1, "s_barrier", 1), "p.csv");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->at(16)->issue, 0.5);
  EXPECT_EQ(p->at(40)->issue, 0.5);
  EXPECT_NE(p->notes.at(0).find("1 samples are of instructions that occur several times"), std::string::npos);
}

TEST(samples_csv, of_dispatches_of_other_kernels_are_left_out) {
  const auto p =
      import(csv_header + csv_row(1, "s_barrier", 1) + csv_row(2, "s_barrier", 1) + csv_row(2, "s_nop 3", 1), "p.csv");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->total(), 1);
  const auto none = import(csv_header + csv_row(2, "s_nop 3", 1), "p.csv");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "p.csv: the profile has samples of `s_nop 3`, k.hsaco has no such instruction");
}

TEST(samples_csv, without_an_instruction_are_left_out) {
  const auto p = import(csv_header + csv_row(1, "", 1) + csv_row(1, "s_barrier", 1), "p.csv");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->total(), 1);
  EXPECT_EQ(p->notes.at(0), "1 samples without an instruction were left out");
}

TEST(samples_csv, of_the_host_trap_have_no_reasons) {
  const auto p = import("Sample_Timestamp,Exec_Mask,Dispatch_Id,Instruction,Instruction_Comment,Correlation_Id\r\n"
                        "1,1,1,s_barrier,,1\r\n",
                        "p.csv");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(stall(*p, 32, Reason::unknown), 1);
}

TEST(csv, says_which_line_is_damaged) {
  EXPECT_EQ(import(csv_header + "1,2,3\n", "p.csv").error().message, "p.csv:2: 3 fields, but the header has 10");
  EXPECT_EQ(
      import(csv_header + csv_row(1, "s_barrier", 1) + csv_row(1, "s_barrier", 0, "BOREDOM"), "p.csv").error().message,
      "p.csv:3: \"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_BOREDOM\" is no reason for not issuing");
  EXPECT_EQ(import(csv_header + "1,\"2,3\n", "p.csv").error().message, "p.csv:2: a quote is not closed");
  EXPECT_NE(import("a,b\n1,2\n", "p.csv").error().message.find("p.csv:1: no table that can be read"),
            std::string::npos);
  EXPECT_EQ(import(" \n", "p.csv").error().message, "p.csv: is empty");
}

TEST(csv, of_thread_trace_statistics_has_addresses) {
  const auto p = import("CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n"
                        "2,0,\"; _Z5firstPf\",0,0,0,0,\"first(float*)\"\n"
                        "2,16,\"v_add_f32_e32 v0, v0, v1\",8,40,8,4,\"a.cpp:3\"\n",
                        "stats.csv");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->at(16)->issues, 8);
  EXPECT_EQ(p->at(16)->issue, 32);
  EXPECT_EQ(stall(*p, 16, Reason::pipe_busy), 8);
  EXPECT_EQ(import("CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n2,16,s_nop 0,8,40,8,4,\n", "s.csv")
                .error()
                .message,
            "s.csv: address 0x10: the profile says `s_nop 0`, k.hsaco has `v_add_f32_e32 v0, v0, v1`");
}

TEST(counters, of_rocprof_compute_are_means_over_the_kernels_dispatches) {
  const auto p =
      import("Dispatch_ID,GPU_ID,Grid_Size,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,SQ_INSTS_VALU\n"
             "0,2,64,first(float*) [clone .kd],1,2,100,7\n"
             "1,2,64,first(float*) [clone .kd],3,4,300,9\n"
             "2,2,64,other.kd,3,4,5,5\n",
             "pmc_perf.csv");
  ASSERT_TRUE(p) << p.error().message;
  ASSERT_EQ(p->counters.size(), 2u);
  EXPECT_EQ(p->counters[1].name, "SQ_WAVES");
  EXPECT_EQ(p->counters[1].value, 200);
  EXPECT_EQ(p->counters[1].dispatches, 2u);
  EXPECT_EQ(p->notes.at(0), "counters of 1 other kernels were left out");
}

TEST(counters, of_a_kernel_are_found_under_each_of_its_names) {
  for (const char* name : {"_Z5firstPf", "_Z5firstPf.kd", "first(float*)", "first(float*) (.kd)", "first"}) {
    const auto p = import(fmt::format("Dispatch_ID,Kernel_Name,SQ_WAVES\n0,{},1\n", name), "p.csv");
    EXPECT_TRUE(p) << p.error().message;
  }
  EXPECT_FALSE(import("Dispatch_ID,Kernel_Name,SQ_WAVES\n0,firs,1\n", "p.csv"));
}

TEST(counters, of_rocprofv3_are_summed_over_rows_of_a_dispatch) {
  const auto p = import("Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n"
                        "1,_Z5firstPf,SQ_WAVES,10\n1,_Z5firstPf,SQ_WAVES,20\n",
                        "p_counter_collection.csv");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->counters.at(0).value, 30);
  const auto foreign = import("Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n1,x,SQ_WAVES,10\n", "p.csv");
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().message, "p.csv: counts kernel x, k.hsaco has no such kernel");
}

TEST(rocpd, samples_are_counted_and_checked_by_the_text_beside_them) {
  const auto p = import_database(samples_table +
                                 "INSERT INTO rocpd_gpu_pc_sample_00a1 VALUES (1,'g',2,12,1,0,3),(2,'g',2,12,1,0,3),"
                                 "(3,'g',2,16,1,1,0),(4,'g',2,16,1,NULL,NULL),(5,'g',9,100000,1,1,0);"
                                 "INSERT INTO rocpd_disassembly_data_00a1 VALUES ('g',2,12,'s_waitcnt vmcnt(0)','')");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(stall(*p, 12, Reason::vmcnt), 2);
  EXPECT_EQ(p->at(16)->issue, 1);
  EXPECT_EQ(stall(*p, 16, Reason::unknown), 1);
  const auto wrong =
      import_database(samples_table + "INSERT INTO rocpd_gpu_pc_sample_00a1 VALUES (1,'g',2,12,1,0,3);"
                                      "INSERT INTO rocpd_disassembly_data_00a1 VALUES ('g',2,12,'s_nop 1','')");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("address 0xc: the profile says `s_nop 1`"), std::string::npos);
}

TEST(rocpd, says_what_a_database_lacks) {
  const auto none = import_database("CREATE TABLE rocpd_string (id INTEGER)");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("has no PC samples"), std::string::npos);
  const auto column = import_database("CREATE TABLE rocpd_gpu_pc_sample (code_object_id INTEGER)");
  ASSERT_FALSE(column);
  EXPECT_NE(column.error().message.find("has no column code_object_offset"), std::string::npos);
}

TEST(rocpd, a_merged_database_has_several_tables_of_samples) {
  const std::string columns =
      "(guid TEXT, code_object_id INTEGER, code_object_offset INTEGER, wave_issued INTEGER, stall_reason INTEGER);";
  const auto p = import_database("CREATE TABLE rocpd_gpu_pc_sample_a" + columns + "CREATE TABLE rocpd_gpu_pc_sample_b" +
                                 columns + "INSERT INTO rocpd_gpu_pc_sample_a VALUES ('g',2,16,1,0);" +
                                 "INSERT INTO rocpd_gpu_pc_sample_b VALUES ('g',2,16,1,0);");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->at(16)->issue, 2);
}

TEST(import, damaged_files_are_errors_and_nothing_else) {
  const std::string database = [] {
    const Folder folder;
    const std::string path = (folder.path / "p.db").string();
    sqlite3* handle = nullptr;
    sqlite3_open(path.c_str(), &handle);
    execute(handle, samples_table + "INSERT INTO rocpd_gpu_pc_sample_00a1 VALUES (1,'g',2,12,1,0,3)");
    sqlite3_close(handle);
    return *read_text_file(path);
  }();
  const std::string good[] = {
      code_json(pc_row("s_barrier", 32, 1, 1, "0,1")),
      samples_json(sample(3, 16, 0, issued(0)), sample(3, 16, 0, ""), "\"v_add_f32_e32 v0, v0, v1\""),
      csv_header + csv_row(1, "s_barrier", 1),
      "Dispatch_ID,Kernel_Name,SQ_WAVES\n0,second,1\n",
      database,
  };
  std::mt19937 random(7);
  const Folder folder;
  for (const std::string& text : good) {
    ASSERT_TRUE(import_profile(folder.write("p", text), object().subject()));
    for (int i = 0; i < 100; ++i) {
      std::string bad = text;
      if (i % 2) bad.resize(random() % (bad.size() + 1));
      for (unsigned k = random() % 4; k > 0 && !bad.empty(); --k)
        bad[random() % bad.size()] = static_cast<char>(random());
      const auto p = import_profile(folder.write("p", bad), object().subject());
      if (!p) {
        EXPECT_EQ(p.error().message.find(folder.path.string()), 0u) << p.error().message;
      }
    }
  }
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_FALSE(import_profile(folder.write("p", R"({"code":)" + deep + "}"), object().subject()));
  EXPECT_FALSE(import_profile((folder.path / "missing").string(), object().subject()));
  EXPECT_FALSE(import_profile("/dev", object().subject()));
}

} // namespace asmevo::profile
