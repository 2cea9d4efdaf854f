// A file mapped into memory by somebody who does not trust it to hold still.
//
// A mapping past the end of a file that has shrunk raises SIGBUS. This guard
// turns that into an answer: the first touch of a lost page puts zeros in
// place of the rest of the mapping, the reader runs on to its end, and
// Changed() says that what it read was not the file.
#ifndef WEIGHTPROOF_CONFORMANCE_MAPPED_FILE_H_
#define WEIGHTPROOF_CONFORMANCE_MAPPED_FILE_H_

#include <cstdint>
#include <ctime>
#include <expected>
#include <filesystem>
#include <span>
#include <string>

namespace weightproof::conformance {

// Why a path could not be read. code is one of a closed set: "not-found",
// "unreadable", "directory", "not-a-file" (FIFO, socket, device),
// "file-changed". message is for people and names no path.
struct FileError {
  std::string code;
  std::string message;
};

class MappedFile {
 public:
  // Maps a regular file (following links) for reading. Never blocks on a FIFO
  // and never opens a device. An empty file is an empty span.
  static std::expected<MappedFile, FileError> Open(
      const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // The whole file as it was when opened. Reading is safe whatever happens to
  // the file meanwhile; see Changed().
  std::span<const std::uint8_t> bytes() const { return {data_, size_}; }

  // True if the file was cut, grew or was written since Open: what was read
  // from bytes() is then not to be trusted. Ask after reading.
  bool Changed() const;

  // The FileError to report when Changed().
  static FileError ChangedError();

 private:
  MappedFile() = default;

  int fd_ = -1;
  int slot_ = -1;  // of the guard's table
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  std::timespec modified_ = {};
};

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_MAPPED_FILE_H_
