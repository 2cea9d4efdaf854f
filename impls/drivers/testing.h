// A plug-in opened as a host does it, and what it says written as text.
#ifndef WEIGHTPROOF_IMPLS_DRIVERS_TESTING_H_
#define WEIGHTPROOF_IMPLS_DRIVERS_TESTING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "impls/abi.h"

namespace weightproof::drivers {

// The folder where install.sh put a driver: below WEIGHTPROOF_DRIVERS if that
// is set, else the build directory or, for a build inside another one, that.
// Nothing if it is installed in none of them; why says so, to be printed.
std::optional<std::string> Installed(std::string_view folder, std::string& why);

// Opens lib/NAME.so of the build. Null: error says why.
const wp_implementation* OpenPlugin(const std::string& name,
                                    const std::string& arguments,
                                    std::string& error);

// A file that lives as long as this.
class TempFile {
 public:
  explicit TempFile(const std::string& bytes);
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Little-endian pieces of a GGUF file.
std::string U32(std::uint32_t value);
std::string U64(std::uint64_t value);
std::string GgufString(std::string_view text);
std::string GgufHeader(std::uint64_t tensors, std::uint64_t kvs);

// The empty file; one string key and one F32 tensor of 8 elements (0..7); the
// same with a wrong magic.
std::string EmptyGguf();
std::string OneTensorGguf();
std::string BadMagicGguf();

// "accept", "reject", "not-run", "not-implemented", with ": detail" if there
// is one; an accept with what the sink received:
// "accept v3 data@96 general.name:8=x t[8]0@0+32".
std::string Parse(const wp_implementation& implementation,
                  const std::string& bytes);
// As Parse; an accept with the bytes in hex.
std::string ReadTensor(const wp_implementation& implementation,
                       const std::string& bytes, std::uint64_t index);
// As Parse; an accept with the value.
std::string Get(const wp_implementation& implementation,
                const std::string& bytes, std::string_view key,
                std::uint32_t type);
std::string Describe(const wp_answer& answer);
std::string Hex(std::string_view bytes);

}  // namespace weightproof::drivers

#endif  // WEIGHTPROOF_IMPLS_DRIVERS_TESTING_H_
