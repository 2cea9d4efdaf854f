// The walk behind VisitFields. Internal to the field visitor.
#ifndef WEIGHTPROOF_REFERENCE_GGUF_FIELD_WALKER_H_
#define WEIGHTPROOF_REFERENCE_GGUF_FIELD_WALKER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/gguf/fields.h"

namespace weightproof::gguf {

class FieldWalker {
 public:
  FieldWalker(const Input& input,
              const std::function<void(const Field&)>& visit, bool values);
  FieldWalk Walk();

 private:
  // A tensor's bytes as far as they are in the file.
  struct Piece {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t index = 0;
  };
  // What the data part needs of a tensor entry.
  struct Entry {
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> size;
  };
  struct Level {
    std::string path;
    std::uint32_t type = 0;
    std::uint64_t count = 0;
    std::uint64_t index = 0;
  };

  // Each returns false, or nothing, once the rest cannot be told apart.
  bool Header();
  bool Magic();
  bool KeyValue(std::uint64_t index);
  bool Value(const std::string& path, std::uint32_t type);
  bool Array(const std::string& path);
  std::optional<Level> ArrayHeader(const std::string& path, int depth);
  bool ItemFields(const Level& level, int depth);
  std::string ItemsText(const Level& level, std::uint64_t width);
  bool ScalarField(const std::string& path, std::uint32_t type);
  bool Tensor(std::uint64_t index);
  bool Dims(const std::string& path, std::uint64_t n_dims,
            std::optional<std::uint64_t>& elements, std::uint64_t& row);

  // A length and that many bytes.
  bool TextField(const std::string& length_path, const std::string& path,
                 int depth);
  // An integer of the file's byte order, not yet reported.
  std::optional<std::uint64_t> Integer(std::uint64_t width);
  // An integer field, reported.
  std::optional<std::uint64_t> Number(std::string path, FieldKind kind,
                                      std::uint64_t width, int depth,
                                      std::uint32_t type = 0);
  bool Have(std::uint64_t size);
  bool Fail(std::string problem);
  std::span<const std::uint8_t> Bytes(std::uint64_t begin,
                                      std::uint64_t size) const;
  std::uint64_t Left() const { return file_size_ - pos_; }

  void NoteAlignment(std::uint32_t type, std::uint64_t bits);
  std::optional<std::uint64_t> SizeOf(std::uint64_t type,
                                      std::optional<std::uint64_t> elements,
                                      std::uint64_t row) const;
  void Data();
  std::vector<Piece> PiecesByOffset();
  // Reports [pos_, end) of the file as one field, unless it is empty.
  void Stretch(std::string path, FieldKind kind, std::uint64_t end,
               std::string value = "");
  void Padding(std::string path, std::uint64_t end);
  std::uint64_t Aligned(std::uint64_t position) const;

  std::span<const std::uint8_t> prefix_;
  std::uint64_t file_size_;
  std::uint64_t base_;
  const std::function<void(const Field&)>& visit_;
  bool values_;  // Field::value is wanted
  std::uint64_t pos_ = 0;
  std::uint64_t length_width_ = 8;
  std::uint64_t kv_count_ = 0;
  std::uint64_t tensor_count_ = 0;
  bool is_alignment_ = false;  // the entry being read is general.alignment
  std::vector<Entry> entries_;
  FieldWalk walk_;
};

}  // namespace weightproof::gguf

#endif  // WEIGHTPROOF_REFERENCE_GGUF_FIELD_WALKER_H_
