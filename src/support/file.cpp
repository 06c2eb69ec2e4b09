#include "support/file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace asmevo {

namespace {

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

template <class Container> Result<Container> read_whole(const std::string& path, uint64_t limit) {
  Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return fail("{}: cannot open: {}", path, std::strerror(errno));
  struct stat status;
  if (fstat(file.fd, &status) != 0) return fail("{}: cannot read: {}", path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return fail("{}: is a directory, a file is needed", path);
  Container content;
  char buffer[1 << 16];
  for (;;) {
    ssize_t got = read(file.fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail("{}: cannot read: {}", path, std::strerror(errno));
    if (got == 0) return content;
    content.insert(content.end(), buffer, buffer + got);
    if (content.size() > limit) return fail("{}: larger than {} bytes", path, limit);
  }
}

std::string directory_of(const std::string& path) {
  auto parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

} // namespace

Result<Bytes> read_file(const std::string& path, uint64_t limit) { return read_whole<Bytes>(path, limit); }

Result<std::string> read_text_file(const std::string& path, uint64_t limit) {
  return read_whole<std::string>(path, limit);
}

Result<void> write_file(const std::string& path, std::span<const uint8_t> bytes) {
  std::string temporary = path + ".tmp.XXXXXX";
  Descriptor file{mkostemp(temporary.data(), O_CLOEXEC)};
  if (file.fd < 0) return fail("{}: cannot write: {}", path, std::strerror(errno));
  auto give_up = [&]() -> Result<void> {
    int reason = errno;
    unlink(temporary.c_str());
    return fail("{}: cannot write: {}", path, std::strerror(reason));
  };
  for (size_t done = 0; done < bytes.size();) {
    ssize_t put = write(file.fd, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return give_up();
    done += size_t(put);
  }
  mode_t mask = umask(0);
  umask(mask);
  if (fchmod(file.fd, 0666 & ~mask) != 0 || fsync(file.fd) != 0 || rename(temporary.c_str(), path.c_str()) != 0)
    return give_up();
  return {};
}

Result<void> write_text_file(const std::string& path, std::string_view text) {
  return write_file(path, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

Result<void> check_writable(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return fail("{}: is a directory, a file name is needed", path);
  std::string directory = directory_of(path);
  if (!std::filesystem::is_directory(directory, ignored)) return fail("{}: no directory `{}`", path, directory);
  if (access(directory.c_str(), W_OK) != 0)
    return fail("{}: cannot write in `{}`: {}", path, directory, std::strerror(errno));
  return {};
}

} // namespace asmevo
