#include "corpus/bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <span>

namespace weightproof::corpus {
namespace {

constexpr std::uint64_t kSaturated = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kBlock = std::size_t{1} << 16;

std::uint64_t ChunkSize(const Chunk& chunk) {
  if (const auto* literal = std::get_if<Literal>(&chunk)) {
    return literal->bytes.size();
  }
  if (const auto* zero = std::get_if<Zero>(&chunk)) return zero->n;
  const auto& repeat = std::get<Repeat>(chunk);
  std::uint64_t product = 0;
  const std::uint64_t unit = repeat.unit.size();
  return __builtin_mul_overflow(unit, repeat.n, &product) ? kSaturated
                                                          : product;
}

// A file open for writing at a position of our own; closed on destruction.
class Output {
 public:
  explicit Output(const std::filesystem::path& path)
      : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                 0644)) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (fd_ >= 0) close(fd_);
  }

  bool IsOpen() const { return fd_ >= 0; }
  void Skip(std::uint64_t n) { position_ += n; }

  bool Write(std::span<const std::uint8_t> data) {
    while (!data.empty()) {
      const ssize_t done =
          pwrite(fd_, data.data(), data.size(), static_cast<off_t>(position_));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      position_ += static_cast<std::uint64_t>(done);
      data = data.subspan(static_cast<std::size_t>(done));
    }
    return true;
  }

  // Cuts or extends the file to the position reached, and closes it.
  bool Finish() {
    const bool sized = ftruncate(fd_, static_cast<off_t>(position_)) == 0;
    const int saved = errno;
    const bool closed = close(fd_) == 0;
    fd_ = -1;
    if (!sized) errno = saved;
    return sized && closed;
  }

 private:
  int fd_;
  std::uint64_t position_ = 0;
};

bool WriteRepeat(const Repeat& repeat, Output& out) {
  if (repeat.unit.empty()) return true;
  const std::uint64_t per_block =
      std::max<std::uint64_t>(1, kBlock / repeat.unit.size());
  std::vector<std::uint8_t> block;
  const std::uint64_t units = std::min(per_block, repeat.n);
  for (std::uint64_t i = 0; i < units; ++i) {
    block.insert(block.end(), repeat.unit.begin(), repeat.unit.end());
  }
  std::uint64_t left = repeat.n;
  for (; left >= units && units > 0; left -= units) {
    if (!out.Write(block)) return false;
  }
  return out.Write(std::span(block).first(static_cast<std::size_t>(left) *
                                          repeat.unit.size()));
}

bool WriteChunk(const Chunk& chunk, Output& out) {
  if (const auto* literal = std::get_if<Literal>(&chunk)) {
    return out.Write(literal->bytes);
  }
  if (const auto* zero = std::get_if<Zero>(&chunk)) {
    out.Skip(zero->n);
    return true;
  }
  return WriteRepeat(std::get<Repeat>(chunk), out);
}

}  // namespace

std::uint64_t Bytes::Size() const {
  std::uint64_t total = 0;
  for (const Chunk& chunk : chunks) {
    if (__builtin_add_overflow(total, ChunkSize(chunk), &total)) {
      return kSaturated;
    }
  }
  return total;
}

std::expected<std::vector<std::uint8_t>, std::string> Bytes::Materialize(
    std::uint64_t max) const {
  const std::uint64_t size = Size();
  if (size > max) {
    return std::unexpected(
        fmt::format("{} bytes, more than the {} allowed in memory", size, max));
  }
  std::vector<std::uint8_t> out;
  out.reserve(static_cast<std::size_t>(size));
  for (const Chunk& chunk : chunks) {
    if (const auto* literal = std::get_if<Literal>(&chunk)) {
      out.insert(out.end(), literal->bytes.begin(), literal->bytes.end());
    } else if (const auto* zero = std::get_if<Zero>(&chunk)) {
      out.resize(out.size() + static_cast<std::size_t>(zero->n));
    } else {
      const auto& repeat = std::get<Repeat>(chunk);
      if (repeat.unit.empty()) continue;
      for (std::uint64_t i = 0; i < repeat.n; ++i) {
        out.insert(out.end(), repeat.unit.begin(), repeat.unit.end());
      }
    }
  }
  return out;
}

std::expected<void, std::string> Bytes::WriteFile(
    const std::filesystem::path& path) const {
  const std::uint64_t size = Size();
  if (size > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) {
    return std::unexpected(fmt::format(
        "{}: {} bytes, more than a file can have", path.string(), size));
  }
  const auto error = [&](const char* what) {
    return std::unexpected(fmt::format("{}: cannot {}: {}", path.string(), what,
                                       std::strerror(errno)));
  };
  Output out(path);
  if (!out.IsOpen()) return error("create");
  for (const Chunk& chunk : chunks) {
    if (!WriteChunk(chunk, out)) return error("write");
  }
  if (!out.Finish()) return error("write");
  return {};
}

}  // namespace weightproof::corpus
