// The canonical dump: what a reader read, as JSON that can be compared.
//
//   {"version":3,"endian":"little","alignment":32,"data_offset":"64",
//    "file_size":"96","kv":[{"key":K,"type":"u32","value":V}],
//    "tensors":[{"name":K,"dims":["8"],"type":0,"offset":"0","size":"32"}],
//    "policies":[]}
//
// kv and tensors stand in file order, repeated keys included; dims in file
// order; offset relative to the data start; size without padding. 64-bit
// numbers are decimal strings, floats are bit patterns ("0x3fc00000") or
// "nan". An array is {"elem","len","items"}, over 256 elements the first three
// and the last with the crc32 of all, encoded as in a version 3 little-endian
// file. What a reader cannot report is null; "ordered":false says that the
// order was lost.
#ifndef WEIGHTPROOF_CONFORMANCE_DUMP_H_
#define WEIGHTPROOF_CONFORMANCE_DUMP_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "impls/abi.h"

namespace weightproof::conformance {

using Json = nlohmann::json;

// Turns the calls of a wp_gguf_sink into a dump. Memory is bounded by what the
// dump keeps: long arrays and strings are abbreviated as they arrive.
class DumpBuilder {
 public:
  DumpBuilder();
  DumpBuilder(const DumpBuilder&) = delete;
  DumpBuilder& operator=(const DumpBuilder&) = delete;

  // The sink to hand to an implementation; valid as long as the builder.
  const wp_gguf_sink* sink() const { return &sink_; }

  // The dump of everything received, and a fresh start. file_size: bytes of
  // the file, which no sink call reports.
  Json Take(std::uint64_t file_size);

  // The value of the only key received (gguf.get), and a fresh start; null if
  // there was none.
  Json TakeValue();

  // How the calls broke the contract of wp_gguf_sink ("a value without a
  // key"); empty if they did not. Reset by Take and TakeValue.
  const std::string& violation() const { return violation_; }

 private:
  struct Frame {
    std::uint32_t element_type = 0;
    std::uint64_t count = 0;  // as announced
    std::uint64_t received = 0;
    std::uint32_t crc = 0;
    Json items;
    bool abbreviated() const;
  };

  void Header(const wp_gguf_header& header);
  void Key(std::string_view key, std::uint32_t type);
  void Scalars(std::uint32_t type, const std::uint8_t* values,
               std::uint64_t count);
  void String(std::string_view value);
  void ArrayBegin(std::uint32_t element_type, std::uint64_t count);
  void ArrayEnd();
  void Tensor(const wp_gguf_tensor& tensor);

  bool ExpectsValue();
  bool KeepsNext() const;
  void Place(Json value);
  void Checksum(std::string_view encoded);
  void ChecksumScalars(std::uint32_t type, const std::uint8_t* values,
                       std::uint64_t count);
  void Violate(std::string_view what);
  void Reset();

  wp_gguf_sink sink_;
  Json top_;
  Json kv_;
  Json tensors_;
  Json policies_;
  bool has_value_ = true;
  std::vector<Frame> frames_;
  std::string violation_;
};

// The field names of wp_implementation.dump_fields.
std::span<const std::string> AllDumpFields();

// Nulls what is not among fields, and sets "ordered":false if "order" is not.
void RestrictDump(std::span<const std::string> fields, Json& dump);

// Whether the reported fields satisfy a rule's expression: "a,b" needs both,
// "a|b" one of them, "" nothing.
bool ReportsFields(std::string_view expression,
                   std::span<const std::string> reported);

struct Difference {
  std::string path;      // "kv[3].value.items[2]"
  std::string expected;  // as JSON text, abbreviated
  std::string got;
};

// The first difference between two dumps, among the fields reported (top-level
// names, "size" for tensor sizes, "order"). Full values in got are abbreviated
// first; NaN is a class; an integer equals its decimal string. Null in got is
// not compared: its path goes to skipped, if that is given. data_offset counts
// only if there are tensors.
std::optional<Difference> CompareDumps(
    const Json& expected, const Json& got, std::span<const std::string> fields,
    std::vector<std::string>* skipped = nullptr);

// One kv value (gguf.get): as CompareDumps. type: a name of TypeName.
std::optional<Difference> CompareValues(std::string_view type,
                                        const Json& expected, const Json& got);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_DUMP_H_
