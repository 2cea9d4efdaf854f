#include "reference/gguf/types.h"

#include <algorithm>
#include <array>

namespace weightproof::gguf {
namespace {

struct ValueTypeInfo {
  std::string_view name;
  std::uint64_t width;
};

constexpr std::array<ValueTypeInfo, kValueTypes> kValueTypeTable = {{
    {"u8", 1},
    {"i8", 1},
    {"u16", 2},
    {"i16", 2},
    {"u32", 4},
    {"i32", 4},
    {"f32", 4},
    {"bool", 1},
    {"string", 0},
    {"array", 0},
    {"u64", 8},
    {"i64", 8},
    {"f64", 8},
}};

constexpr auto kCommon = TypeTier::kCommon;
constexpr auto kIntermediate = TypeTier::kIntermediate;
constexpr auto kExtended = TypeTier::kExtended;
constexpr auto kNewer = TypeTier::kNewer;

// Sizes: ggml's type traits (ggml-org/ggml:src/ggml.c).
constexpr std::array<TensorType, 36> kTensorTypeTable = {{
    {0, "F32", 1, 4, kCommon},
    {1, "F16", 1, 2, kCommon},
    {2, "Q4_0", 32, 18, kCommon},
    {3, "Q4_1", 32, 20, kCommon},
    {6, "Q5_0", 32, 22, kCommon},
    {7, "Q5_1", 32, 24, kCommon},
    {8, "Q8_0", 32, 34, kCommon},
    {9, "Q8_1", 32, 36, kIntermediate},
    {10, "Q2_K", 256, 84, kCommon},
    {11, "Q3_K", 256, 110, kCommon},
    {12, "Q4_K", 256, 144, kCommon},
    {13, "Q5_K", 256, 176, kCommon},
    {14, "Q6_K", 256, 210, kCommon},
    {15, "Q8_K", 256, 292, kIntermediate},
    {16, "IQ2_XXS", 256, 66, kExtended},
    {17, "IQ2_XS", 256, 74, kExtended},
    {18, "IQ3_XXS", 256, 98, kExtended},
    {19, "IQ1_S", 256, 50, kExtended},
    {20, "IQ4_NL", 32, 18, kExtended},
    {21, "IQ3_S", 256, 110, kExtended},
    {22, "IQ2_S", 256, 82, kExtended},
    {23, "IQ4_XS", 256, 136, kExtended},
    {24, "I8", 1, 1, kExtended},
    {25, "I16", 1, 2, kExtended},
    {26, "I32", 1, 4, kExtended},
    {27, "I64", 1, 8, kExtended},
    {28, "F64", 1, 8, kExtended},
    {29, "IQ1_M", 256, 56, kExtended},
    {30, "BF16", 1, 2, kCommon},
    {34, "TQ1_0", 256, 54, kExtended},
    {35, "TQ2_0", 256, 66, kExtended},
    {39, "MXFP4", 32, 17, kExtended},
    {40, "NVFP4", 64, 36, kNewer},
    {41, "Q1_0", 128, 18, kNewer},
    {42, "Q2_0", 64, 18, kNewer},
    {143, "PTQ1_0", 128, 28, TypeTier::kFork},
}};

constexpr std::array<std::uint32_t, 8> kWithdrawn = {4,  5,  31, 32,
                                                     33, 36, 37, 38};

}  // namespace

std::string_view ValueTypeName(std::uint32_t type) {
  return type < kValueTypes ? kValueTypeTable[type].name : "unknown";
}

std::uint64_t ValueWidth(std::uint32_t type) {
  return type < kValueTypes ? kValueTypeTable[type].width : 0;
}

std::span<const TensorType> TensorTypes() { return kTensorTypeTable; }

const TensorType* FindTensorType(std::uint32_t id) {
  for (const TensorType& type : kTensorTypeTable) {
    if (type.id == id) return &type;
  }
  return nullptr;
}

bool IsWithdrawnTensorType(std::uint32_t id) {
  return std::ranges::find(kWithdrawn, id) != kWithdrawn.end();
}

}  // namespace weightproof::gguf
