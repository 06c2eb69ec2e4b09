// LLD works on files and on global state, and may decide to end the process. So: one link at a time; the input is an
// anonymous file that only this process can name; the output goes to a directory of its own that is gone afterwards;
// and a fatal error comes back as a value. After an error that LLD itself calls unrecoverable, linking is refused
// rather than done in a state that nobody knows.
#include "recover/link.h"

#include "isa/containment.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <lld/Common/CommonLinkerContext.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

namespace asmevo::recover {

namespace {

// An anonymous file with the given content, as a path.
class MemoryFile {
public:
  static Result<MemoryFile> create(std::span<const uint8_t> content) {
    MemoryFile file;
    file.fd_ = memfd_create("asmevo-object", MFD_CLOEXEC);
    if (file.fd_ < 0) return fail("link: cannot make a memory file: {}", std::strerror(errno));
    for (size_t done = 0; done < content.size();) {
      ssize_t n = write(file.fd_, content.data() + done, content.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return fail("link: cannot write a memory file: {}", std::strerror(errno));
      done += size_t(n);
    }
    return file;
  }
  MemoryFile() = default;
  MemoryFile(MemoryFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }
  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_); }

private:
  int fd_ = -1;
};

class PrivateDirectory {
public:
  static Result<PrivateDirectory> create() {
    for (std::string parent : {std::string("/dev/shm"), std::filesystem::temp_directory_path().string()}) {
      std::string name = parent + "/asmevo-XXXXXX";
      if (!mkdtemp(name.data())) continue;
      PrivateDirectory directory;
      directory.path_ = name;
      return directory;
    }
    return fail("link: cannot make a temporary directory: {}", std::strerror(errno));
  }
  PrivateDirectory() = default;
  PrivateDirectory(PrivateDirectory&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  ~PrivateDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

private:
  std::string path_;
};

std::mutex& linker_mutex() {
  static std::mutex instance;
  return instance;
}

bool linker_is_broken = false; // under linker_mutex()

Result<void> run_linker(const std::string& input, const std::string& output, const char* relocated_text) {
  const char* arguments[] = {"ld.lld",
                             "-shared",
                             "--no-undefined-version",
                             "-z",
                             relocated_text,
                             "--build-id=none",
                             "--hash-style=both",
                             "--threads=1",
                             "--no-dependent-libraries",
                             "--no-mmap-output-file",
                             "--unresolved-symbols=ignore-all",
                             input.c_str(),
                             "-o",
                             output.c_str()};
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  lld::Result result{1, true};
  std::scoped_lock lock(linker_mutex());
  if (linker_is_broken) return fail("link: the linker failed earlier in this process and cannot be used again");
  auto fatal = isa::contained([&] { result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}}); });
  if (fatal || !result.canRunAgain) {
    linker_is_broken = true;
    return fail("link: the linker gave up: {}", fatal.value_or(messages));
  }
  if (result.retCode != 0) {
    if (size_t end = messages.find('\n'); end != std::string::npos) messages.resize(end);
    return fail("link: {}", messages);
  }
  return {};
}

} // namespace

Result<Bytes> link_shared(std::span<const uint8_t> relocatable) {
  AE_TRY(MemoryFile input, MemoryFile::create(relocatable));
  AE_TRY(PrivateDirectory directory, PrivateDirectory::create());
  std::string output = directory.path() + "/linked";
  // Code that only the loader can finish is rare, and allowing for it leaves its mark in .dynamic.
  auto linked = run_linker(input.path(), output, "text");
  if (!linked) linked = run_linker(input.path(), output, "notext");
  if (!linked) return std::unexpected(std::move(linked).error());
  return read_file(output);
}

} // namespace asmevo::recover
