#include "support/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
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

Result<struct stat> open_to_read(const std::string& path, Descriptor& file) {
  file.fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file.fd < 0) return fail("{}: cannot open: {}", path, std::strerror(errno));
  struct stat status;
  if (fstat(file.fd, &status) != 0) return fail("{}: cannot read: {}", path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return fail("{}: is a directory, a file is needed", path);
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) return fail("{}: is a device, a file is needed", path);
  return status;
}

template <class Container> Result<Container> read_whole(const std::string& path, uint64_t limit) {
  Descriptor file;
  AE_CHECK(open_to_read(path, file));
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

bool write_all(int fd, std::span<const uint8_t> bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t put = write(fd, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    done += size_t(put);
  }
  return true;
}

// Pipes and devices are written to, never replaced.
Result<void> write_through(const std::string& path, std::span<const uint8_t> bytes) {
  Descriptor file{open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  if (file.fd < 0 || !write_all(file.fd, bytes)) return fail("{}: cannot write: {}", path, std::strerror(errno));
  return {};
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

FileBytes::FileBytes(Bytes bytes) {
  auto owned = std::make_shared<const Bytes>(std::move(bytes));
  bytes_ = *owned;
  owner_ = std::move(owned);
}

Result<FileBytes> FileBytes::map(const std::string& path) {
  Descriptor file;
  AE_TRY(struct stat status, open_to_read(path, file));
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    size_t size = size_t(status.st_size);
    void* start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (start != MAP_FAILED) {
      FileBytes mapped;
      mapped.owner_ = std::shared_ptr<const void>(start, [size](const void* p) { munmap(const_cast<void*>(p), size); });
      mapped.bytes_ = {static_cast<const uint8_t*>(start), size};
      mapped.mapped_ = true;
      return mapped;
    }
  }
  AE_TRY(Bytes bytes, read_file(path)); // pipes and file systems that cannot map
  return FileBytes(std::move(bytes));
}

void FileBytes::forget(uint64_t offset, uint64_t size) const {
  if (!mapped_ || offset >= bytes_.size()) return;
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE)), end = offset + std::min<uint64_t>(size, bytes_.size() - offset);
  uint64_t first = (offset + page - 1) / page * page, last = end / page * page; // whole pages only
  if (first < last) madvise(const_cast<uint8_t*>(bytes_.data()) + first, last - first, MADV_DONTNEED);
}

Result<void> write_file(const std::string& path, std::span<const uint8_t> bytes) {
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return write_through(path, bytes);
  // A link stays one: the file that it leads to is replaced.
  std::error_code no_link;
  (void)std::filesystem::read_symlink(path, no_link);
  std::string place = no_link ? path : std::filesystem::weakly_canonical(path, no_link).string();
  std::string temporary = place + ".tmp.XXXXXX";
  Descriptor file{mkostemp(temporary.data(), O_CLOEXEC)};
  if (file.fd < 0) return fail("{}: cannot write: {}", path, std::strerror(errno));
  auto give_up = [&]() -> Result<void> {
    int reason = errno;
    unlink(temporary.c_str());
    return fail("{}: cannot write: {}", path, std::strerror(reason));
  };
  if (!write_all(file.fd, bytes)) return give_up();
  mode_t mask = umask(0);
  umask(mask);
  if (fchmod(file.fd, 0666 & ~mask) != 0 || fsync(file.fd) != 0 || rename(temporary.c_str(), place.c_str()) != 0)
    return give_up();
  return {};
}

Result<void> write_text_file(const std::string& path, std::string_view text) {
  return write_file(path, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

Result<void> check_writable(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return fail("{}: is a directory, a file name is needed", path);
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return {}; // a pipe or a device
  std::string directory = directory_of(std::filesystem::weakly_canonical(path, ignored).string());
  if (!std::filesystem::is_directory(directory, ignored)) return fail("{}: no directory `{}`", path, directory);
  if (access(directory.c_str(), W_OK) != 0)
    return fail("{}: cannot write in `{}`: {}", path, directory, std::strerror(errno));
  return {};
}

} // namespace asmevo
