#include "fuzzers/corpus_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace weightproof::fuzzers {
namespace {

namespace fs = std::filesystem;

std::unexpected<std::string> Problem(const fs::path& path,
                                     std::string_view what) {
  return std::unexpected(fmt::format("{}: {}", path.string(), what));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int Close() {
    const int result = close(fd_);
    fd_ = -1;
    return result;
  }

 private:
  int fd_;
};

}  // namespace

std::expected<Bytes, std::string> LoadInput(const fs::path& file,
                                            std::uint64_t max) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const Descriptor in(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (in.get() < 0) return Problem(file, std::strerror(errno));
  struct stat about = {};
  if (fstat(in.get(), &about) != 0) return Problem(file, std::strerror(errno));
  if (!S_ISREG(about.st_mode)) return Problem(file, "is not a regular file");
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size > max) {
    return Problem(
        file, fmt::format("has {} bytes; an input has at most {}", size, max));
  }
  Bytes bytes(static_cast<std::size_t>(size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got =
        read(in.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Problem(file, std::strerror(errno));
    if (got == 0) return Problem(file, "shrank while it was read");
    have += static_cast<std::size_t>(got);
  }
  return bytes;
}

std::expected<std::vector<CorpusInput>, std::string> LoadCorpus(
    const fs::path& folder, std::uint64_t max) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    entries.push_back(it->path());
  }
  if (error) return Problem(folder, error.message());
  if (entries.empty()) return Problem(folder, "holds no input");
  std::ranges::sort(entries);
  std::vector<CorpusInput> out;
  for (const fs::path& entry : entries) {
    auto bytes = LoadInput(entry, max);
    if (!bytes) return std::unexpected(bytes.error());
    out.push_back({entry.filename().string(), std::move(*bytes)});
  }
  return out;
}

std::expected<void, std::string> StoreFile(const fs::path& path, ByteSpan bytes,
                                           bool synced) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  const fs::path partial = path.string() + fmt::format(".{}.part", getpid());
  const auto fail = [&] {
    const int cause = errno;
    fs::remove(partial, ignored);
    return Problem(path,
                   fmt::format("cannot be written: {}", std::strerror(cause)));
  };
  Descriptor out(
      open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (out.get() < 0) return fail();
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote =
        write(out.get(), bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return fail();
    done += static_cast<std::size_t>(wrote);
  }
  if (synced && fsync(out.get()) != 0) return fail();
  if (out.Close() != 0) return fail();
  if (rename(partial.c_str(), path.c_str()) != 0) return fail();
  return {};
}

std::string CorpusName(ByteSpan bytes) {
  return fmt::format("{:016x}", HashBytes(bytes));
}

}  // namespace weightproof::fuzzers
