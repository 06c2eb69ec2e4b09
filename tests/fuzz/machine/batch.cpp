#include "batch.h"

#include "generator.h"
#include "support/file.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <random>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace asmevo::fuzz {

namespace {

// Signed overflow wraps and floats are never contracted, in both compilations.
constexpr std::string_view flags =
    "-w -std=gnu17 -fwrapv -fno-strict-aliasing -ffp-contract=off -idirafter /usr/include -I" FUZZ_RUNTIME;
// csmith stores through pointers to misaligned members of packed structs, and a program that is cut down may do
// anything.
constexpr std::string_view stop_where_undefined = "-fsanitize=undefined -fsanitize-trap=undefined";
// Of processor time. What takes longer here takes too many instructions on the machine.
constexpr itimerval host_limit = {.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = 20'000}};
constexpr std::string_view csmith_options =
    "--no-argc --no-hash-value-printf --max-funcs 4 --max-block-depth 3 --max-expr-complexity 6 --concise";

Result<void> execute(const std::string& command, const std::string& folder) {
  const std::string log = folder + "/log";
  if (std::system(fmt::format("{} > {} 2>&1", command, log).c_str()) == 0) return {};
  return fail("{}: `{}` failed: {}", folder, command, read_text_file(log).value_or(""));
}

// csmith's programs use globals, so one is a kernel of one work-item and an object of its own.
Result<std::string> csmith_source(const Batch& batch, const std::string& folder) {
  const std::string path = folder + "/csmith.c";
  AE_CHECK(execute(
      fmt::format("cd {} && csmith {} --seed {} --output {}", folder, csmith_options, batch.first_seed, path), folder));
  return fmt::format("#define main csmith_main\n#include \"{}\"\n"
                     "KERNEL(0, int) {{\n#ifdef DEVICE\n  if (__builtin_amdgcn_workitem_id_x()) return;\n#endif\n"
                     "  csmith_main();\n  out[0] = globals_sum;\n}}\n",
                     path);
}

std::string own_source(const Batch& batch) {
  std::string text = "SHARED\n";
  for (unsigned k = 0; k < batch.count; ++k) text += generate(batch.first_seed + k, k);
  return text;
}

constexpr size_t words_of_program = size_t{items} * results_per_item;

/// Runs all programs of a shared object, each under a time limit; `done` gets one byte a program.
[[noreturn]] void run_in_child(const char* library, const Batch& batch, uint64_t* out, uint8_t* done) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) _exit(3);
  for (unsigned k = 0; k < batch.count; ++k) {
    auto* program =
        reinterpret_cast<void (*)(const uint32_t*, uint64_t*)>(dlsym(handle, fmt::format("k{}", k).c_str()));
    if (!program) _exit(4);
    setitimer(ITIMER_VIRTUAL, &host_limit, nullptr);
    program(input_of(batch, k).data(), out + k * words_of_program);
    done[k] = 1;
  }
  _exit(0);
}

} // namespace

std::vector<uint32_t> input_of(const Batch& batch, unsigned k) {
  std::mt19937_64 random(batch.first_seed + k);
  std::vector<uint32_t> words(input_words);
  constexpr uint32_t edges[] = {0, 1, 2, 31, 0x7f, 0x80, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x3f800000};
  for (uint32_t& word : words)
    word = random() % 4 ? uint32_t(random()) >> random() % 32 : edges[random() % std::size(edges)];
  return words;
}

Result<void> write_source(const Batch& batch, const std::string& folder) {
  std::string text = "#include \"runtime.h\"\n";
  if (batch.source == Source::file) {
    AE_TRY(text, read_text_file(batch.path));
  } else if (batch.source == Source::csmith) {
    AE_TRY(const std::string source, csmith_source(batch, folder));
    text += source;
  } else {
    text += own_source(batch);
  }
  return write_text_file(folder + "/batch.c", text);
}

namespace {

Result<Results> run_on_host_at(unsigned level, std::string_view checks, const Batch& batch, const std::string& folder) {
  const std::string library = fmt::format("{}/host-O{}.so", folder, level);
  AE_CHECK(execute(
      fmt::format("clang-22 -O{} {} {} -Xclang -ffloat16-excess-precision=none -fPIC -shared {}/batch.c -o {} -lm",
                  level, flags, checks, folder, library),
      folder));
  const size_t words = words_of_program * batch.count, bytes = words * sizeof(uint64_t) + batch.count;
  void* shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return fail("{}: no memory", folder);
  auto* out = static_cast<uint64_t*>(shared);
  auto* done = static_cast<uint8_t*>(shared) + words * sizeof(uint64_t);
  const pid_t child = fork();
  if (child == 0) run_in_child(library.c_str(), batch, out, done);
  int status = 0;
  waitpid(child, &status, 0);
  Results results(batch.count);
  for (unsigned k = 0; k < batch.count; ++k)
    if (done[k]) results[k].assign(out + k * words_of_program, out + (k + 1) * words_of_program);
  munmap(shared, bytes);
  if (WIFEXITED(status) && WEXITSTATUS(status)) return fail("{}: the host cannot load {}", folder, library);
  return results;
}

} // namespace

Result<Results> run_on_host(const Batch& batch, const std::string& folder) {
  const bool defined = batch.source == Source::own;
  AE_TRY(Results results, run_on_host_at(0, defined ? "" : stop_where_undefined, batch, folder));
  if (defined) return results; // what an optimiser could change there is a mistake worth hearing of
  AE_TRY(const Results optimised, run_on_host_at(2, "", batch, folder));
  for (unsigned k = 0; k < batch.count; ++k)
    if (results[k] != optimised[k]) results[k].clear();
  return results;
}

Result<std::string> compile_for_device(const std::string& folder, isa::Processor processor, unsigned level) {
  const std::string object = fmt::format("{}/{}-O{}", folder, isa::processor_name(processor), level);
  AE_CHECK(
      execute(fmt::format("clang-22 --target=amdgcn-amd-amdhsa -mcpu={} -O{} {} -DDEVICE -nogpulib -ffreestanding -c "
                          "{}/batch.c -o {}.o",
                          isa::processor_name(processor), level, flags, folder, object),
              folder));
  AE_CHECK(execute(fmt::format("ld.lld-22 -shared {0}.o -o {0}.hsaco", object), folder));
  return object + ".hsaco";
}

} // namespace asmevo::fuzz
