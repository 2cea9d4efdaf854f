// Vectors as files on disk, and as the requests that name them.
#ifndef WEIGHTPROOF_CONFORMANCE_VECTOR_FILES_H_
#define WEIGHTPROOF_CONFORMANCE_VECTOR_FILES_H_

#include <sys/stat.h>

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "conformance/vector.h"

namespace weightproof::conformance {

// Number of 64-bit digest digits of a set: changes with any vector.
std::string VectorSetDigest(const VectorSet& set);

// The files of a vector set under a directory of their own, read-only, written
// once per set; runs side by side share them.
class VectorFiles {
 public:
  // directory: where sets live; this one gets a folder named by its digest.
  // The error is about the disk as a whole; a single vector that cannot be
  // written (a hole too large for the file system) has a Problem.
  static std::expected<VectorFiles, std::string> Prepare(
      const VectorSet& set, const std::filesystem::path& directory);

  // VectorSetDigest of the set.
  const std::string& digest() const { return digest_; }
  // What the vector at this index asks, as the members of a request:
  // "\"op\":\"gguf.parse\",\"file\":\"/..\"".
  const std::string& Members(std::size_t index) const {
    return entries_[index].members;
  }
  // The same for gguf.tensor on a gguf vector, without op and index.
  const std::string& TensorMembers(std::size_t index) const {
    return entries_[index].tensor_members;
  }
  // The file of a gguf vector; empty for the others.
  const std::filesystem::path& File(std::size_t index) const {
    return entries_[index].file;
  }
  // Bytes of input, for the choice of limits.
  std::uint64_t InputBytes(std::size_t index) const {
    return entries_[index].input_bytes;
  }
  // Why the vector cannot be asked; empty if it can.
  const std::string& Problem(std::size_t index) const {
    return entries_[index].problem;
  }
  // Whether somebody wrote to the vector's file since Prepare. If so it is
  // written anew.
  bool RestoreIfModified(const VectorSet& set, std::size_t index);

 private:
  struct Entry {
    std::string members;
    std::string tensor_members;
    std::filesystem::path file;
    std::uint64_t input_bytes = 0;
    std::string problem;
    struct stat seen = {};
  };

  void PrepareFile(const Vector& vector, Entry& entry);
  void PrepareSet(const Vector& vector, Entry& entry);
  void PrepareNumeric(const Vector& vector, Entry& entry);

  std::string digest_;
  std::filesystem::path root_;
  std::vector<Entry> entries_;
};

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_VECTOR_FILES_H_
