#include "fuzzers/shared_statistics.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace weightproof::fuzzers {
namespace {

constexpr std::size_t kStages = 24;
constexpr std::size_t kRules = 160;

}  // namespace

struct SharedStatistics::Block {
  struct Named {
    std::array<char, 56> name;
    std::uint64_t count;
  };

  std::uint64_t executions;
  std::uint64_t accepted;
  std::array<Named, kStages> stages;
  std::array<Named, kRules> known;
  std::uint64_t running;  // 1 + the size of the current input, or 0
  std::array<std::uint8_t, kLargestCurrent> current;

  // The counter of that name, or a free one; null if there are too many.
  template <std::size_t N>
  static Named* Slot(std::array<Named, N>& slots, std::string_view name) {
    name = name.substr(0, sizeof(Named::name) - 1);
    for (Named& slot : slots) {
      if (name == slot.name.data()) return &slot;
      if (slot.name[0] != '\0') continue;
      if (name.empty()) name = "-";
      std::ranges::copy(name, slot.name.begin());
      return &slot;
    }
    return nullptr;
  }
};

std::expected<SharedStatistics, std::string> SharedStatistics::Open(
    const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  const auto fail = [&] {
    const int cause = errno;
    if (fd >= 0) close(fd);
    return std::unexpected(
        fmt::format("{}: {}", path.string(), std::strerror(cause)));
  };
  if (fd < 0) return fail();
  struct stat about = {};
  if (fstat(fd, &about) != 0) return fail();
  const bool fresh = static_cast<std::uint64_t>(about.st_size) != sizeof(Block);
  // Blocks are allocated now: a full disk must not become a SIGBUS later.
  if (fresh) {
    if (ftruncate(fd, 0) != 0) return fail();
    errno = posix_fallocate(fd, 0, sizeof(Block));
    if (errno != 0) return fail();
  }
  void* map =
      mmap(nullptr, sizeof(Block), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return fail();
  close(fd);
  return SharedStatistics(static_cast<Block*>(map));
}

SharedStatistics::SharedStatistics(Block* block) : block_(block) {}
SharedStatistics::SharedStatistics(SharedStatistics&& other) noexcept
    : block_(std::exchange(other.block_, nullptr)) {}
SharedStatistics& SharedStatistics::operator=(
    SharedStatistics&& other) noexcept {
  std::swap(block_, other.block_);
  return *this;
}
SharedStatistics::~SharedStatistics() {
  if (block_ != nullptr) munmap(block_, sizeof(Block));
}

void SharedStatistics::Count(const Execution& execution) {
  ++block_->executions;
  if (execution.accepted) {
    ++block_->accepted;
  } else if (auto* slot = Block::Slot(block_->stages, execution.stage)) {
    ++slot->count;
  }
  if (execution.known_rule.empty()) return;
  if (auto* slot = Block::Slot(block_->known, execution.known_rule))
    ++slot->count;
}

void SharedStatistics::SetCurrent(ByteSpan input) {
  if (input.size() > kLargestCurrent) return ClearCurrent();
  block_->running = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::ranges::copy(input, block_->current.begin());
  std::atomic_signal_fence(std::memory_order_seq_cst);
  block_->running = 1 + input.size();
}

void SharedStatistics::ClearCurrent() { block_->running = 0; }

Statistics SharedStatistics::Read() const {
  Statistics out;
  out.executions = block_->executions;
  out.accepted = block_->accepted;
  for (const auto& slot : block_->stages) {
    if (slot.count > 0) out.refused[slot.name.data()] = slot.count;
  }
  for (const auto& slot : block_->known) {
    if (slot.count > 0) out.known[slot.name.data()] = slot.count;
  }
  return out;
}

std::optional<Bytes> SharedStatistics::Current() const {
  if (block_->running == 0 || block_->running > kLargestCurrent + 1) {
    return std::nullopt;
  }
  const auto size = static_cast<std::ptrdiff_t>(block_->running - 1);
  return Bytes(block_->current.begin(), block_->current.begin() + size);
}

}  // namespace weightproof::fuzzers
