#include "conformance/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

namespace weightproof::conformance {
namespace {

// The signal handler may only read this table: no locks, no allocation.
// begin is written last and cleared first, so a slot is seen whole.
struct Slot {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> lost{false};
};

constexpr int kSlots = 256;
std::array<Slot, kSlots> slots;
std::mutex slots_mutex;
std::uintptr_t page_size = 4096;
struct sigaction previous_action;

static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

// Replaces the lost page and all behind it by zeros. Returns false if the
// address is not ours.
bool Patch(std::uintptr_t address) {
  for (Slot& slot : slots) {
    const std::uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    const std::uintptr_t end = slot.end.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= end) continue;
    const std::uintptr_t page = address & ~(page_size - 1);
    slot.lost.store(true, std::memory_order_release);
    return mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
                0) != MAP_FAILED;
  }
  return false;
}

void OnBusError(int, siginfo_t* info, void*) {
  const int saved_errno = errno;
  if (!Patch(reinterpret_cast<std::uintptr_t>(info->si_addr))) {
    // Not ours: a faulting instruction runs again under the previous action;
    // a signal that was sent is sent again.
    sigaction(SIGBUS, &previous_action, nullptr);
    if (info->si_code <= 0) raise(SIGBUS);
  }
  errno = saved_errno;
}

void InstallHandler() {
  static const bool installed = [] {
    page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action = {};
    action.sa_sigaction = OnBusError;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGBUS, &action, &previous_action) == 0;
  }();
  (void)installed;
}

int TakeSlot(std::uintptr_t begin, std::uintptr_t end) {
  std::lock_guard lock(slots_mutex);
  for (int i = 0; i < kSlots; ++i) {
    if (slots[i].begin.load() != 0) continue;
    slots[i].lost.store(false);
    slots[i].end.store(end);
    slots[i].begin.store(begin, std::memory_order_release);
    return i;
  }
  return -1;
}

void FreeSlot(int slot) {
  std::lock_guard lock(slots_mutex);
  slots[slot].begin.store(0);
  slots[slot].end.store(0);
}

FileError Unreadable(int error) {
  return {error == ENOENT || error == ENOTDIR ? "not-found" : "unreadable",
          std::strerror(error)};
}

// Nothing if the file is a regular one.
FileError KindError(mode_t mode) {
  if (S_ISDIR(mode)) return {"directory", "is a directory"};
  if (S_ISFIFO(mode)) return {"not-a-file", "is a FIFO, not a regular file"};
  if (S_ISSOCK(mode)) return {"not-a-file", "is a socket, not a regular file"};
  return {"not-a-file", "is a device, not a regular file"};
}

// Opens a regular file. Asks before opening, because opening a device can
// already do something, and after, because the path may have been replaced.
std::expected<int, FileError> OpenRegular(const std::filesystem::path& path,
                                          struct stat* status) {
  if (stat(path.c_str(), status) != 0) {
    return std::unexpected(Unreadable(errno));
  }
  if (!S_ISREG(status->st_mode)) {
    return std::unexpected(KindError(status->st_mode));
  }
  const int fd =
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return std::unexpected(Unreadable(errno));
  if (fstat(fd, status) == 0 && S_ISREG(status->st_mode)) return fd;
  close(fd);
  return std::unexpected(
      FileError{"file-changed", "was replaced while it was opened"});
}

}  // namespace

std::expected<MappedFile, FileError> MappedFile::Open(
    const std::filesystem::path& path) {
  InstallHandler();
  struct stat status = {};
  const auto fd = OpenRegular(path, &status);
  if (!fd) return std::unexpected(fd.error());

  MappedFile file;
  file.fd_ = *fd;
  file.size_ = static_cast<std::size_t>(status.st_size);
  file.modified_ = status.st_mtim;
  if (file.size_ == 0) return file;
  void* data =
      mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, *fd, 0);
  if (data == MAP_FAILED) {
    file.size_ = 0;
    return std::unexpected(
        FileError{"unreadable",
                  fmt::format("cannot be mapped: {}", std::strerror(errno))});
  }
  file.data_ = static_cast<const std::uint8_t*>(data);
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t end =
      (begin + file.size_ + page_size - 1) & ~(page_size - 1);
  file.slot_ = TakeSlot(begin, end);
  if (file.slot_ < 0) {
    return std::unexpected(
        FileError{"unreadable", "too many files are mapped at once"});
  }
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept {
  *this = std::move(other);
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(slot_, other.slot_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(modified_, other.modified_);
  return *this;
}

MappedFile::~MappedFile() {
  if (slot_ >= 0) FreeSlot(slot_);
  if (data_ != nullptr) munmap(const_cast<std::uint8_t*>(data_), size_);
  if (fd_ >= 0) close(fd_);
}

bool MappedFile::Changed() const {
  if (slot_ >= 0 && slots[slot_].lost.load(std::memory_order_acquire)) {
    return true;
  }
  struct stat status = {};
  if (fd_ < 0 || fstat(fd_, &status) != 0) return true;
  return static_cast<std::size_t>(status.st_size) != size_ ||
         status.st_mtim.tv_sec != modified_.tv_sec ||
         status.st_mtim.tv_nsec != modified_.tv_nsec;
}

FileError MappedFile::ChangedError() {
  return {"file-changed", "changed while it was read"};
}

}  // namespace weightproof::conformance
