// Phases of the optimized GGUF reader up to the counts, and the run over them.
#include "impls/cpu/gguf_view.h"

#include <array>

#include "impls/cpu/gguf_view_internal.h"
#include "reference/gguf/rules.h"

namespace weightproof::impls {
inline namespace WEIGHTPROOF_MUTANT {
namespace gguf_internal {
namespace rules = gguf::rules;

namespace {

using Actions = std::array<std::array<Cell, gguf::rules::kEnd>, 3>;

const Actions& ProfileActions() {
  static const Actions kActions = [] {
    Actions actions{};
    for (RuleIndex i = rules::kFirst; i < rules::kEnd; ++i) {
      actions[0][i] = Rules()[i].spec;
      actions[1][i] = Rules()[i].ggml;
      actions[2][i] = Rules()[i].candle;
    }
    return actions;
  }();
  return kActions;
}

constexpr std::string_view kMagic("GGUF"), kMagicReversed("FUGG");

}  // namespace

Judge::Judge(GgufProfile profile)
    : actions_(ProfileActions()[static_cast<std::size_t>(profile)]) {}

bool Judge::Stops(RuleIndex rule, std::uint64_t offset) {
  switch (actions_[rule]) {
    case Cell::kAccept:
    case Cell::kBound:
    case Cell::kNotApplicable:
      return false;
    case Cell::kPolicy:
      for (RuleIndex known : policies_) {
        if (known == rule) return false;
      }
      policies_.push_back(rule);
      return false;
    case Cell::kReject:
    case Cell::kUnsupported:
    case Cell::kLimit:
      break;
  }
  finding_ = {actions_[rule], rule, offset};
  return true;
}

Reader::Reader(const GgufInput& input)
    : input_(input),
      file_size_(input.file_size),
      loaded_(input.prefix.size()),
      judge_(input.profile),
      pos_(input.base) {
  in_.data = input.prefix.data();
  view_.prefix = input.prefix;
  check_key_text_ =
      judge_.CaresAny({rules::kKvKeyUtf8Invalid, rules::kKvKeyNulEmbedded,
                       rules::kKvKeyNulTrailing, rules::kKvKeyNonAscii,
                       rules::kKvKeyWhitespace, rules::kKvKeyGrammar});
}

GgufResult Reader::Run() {
  static constexpr bool (Reader::* kPhases[])() = {
      &Reader::Magic,         &Reader::Version,       &Reader::Counts,
      &Reader::KeyValues,     &Reader::Alignment,     &Reader::Tensors,
      &Reader::RequiredKeys,  &Reader::DataStart,     &Reader::Placement,
      &Reader::Overlaps,      &Reader::TableOrder,    &Reader::Extents,
      &Reader::HeaderPadding, &Reader::TensorPadding, &Reader::Tail};
  for (const auto phase : kPhases) {
    if ((this->*phase)()) continue;
    if (judge_.finding().rule != kNoRule) return judge_.finding();
    return GgufNeedsMore{needs_};
  }
  view_.policies = judge_.TakePolicies();
  return std::move(view_);
}

bool Reader::Have(std::uint64_t size, RuleIndex truncated) {
  if (size > left()) return Fail(truncated, file_size_);
  return Loaded(size);
}

bool Reader::Loaded(std::uint64_t size) {
  if (pos_ <= loaded_ && size <= loaded_ - pos_) return true;
  needs_ = pos_ + size;
  return false;
}

bool Reader::Magic() {
  if (pos_ > file_size_) return Fail(rules::kHeaderMagicTruncated, file_size_);
  if (!Have(4, rules::kHeaderMagicTruncated)) return false;
  const std::uint64_t at = pos_;
  const std::string_view magic = Text(at, 4);
  pos_ += 4;
  if (magic == kMagic) return true;
  if (magic != kMagicReversed) return Fail(rules::kHeaderMagicWrong, at);
  if (left() < 4) return Fail(rules::kHeaderMagicReversed, at);
  if (!Loaded(4)) return false;
  const std::uint32_t version = __builtin_bswap32(in_.U32(pos_));
  return Fail(version >= 1 && version <= 3 ? rules::kHeaderMagicReversedBe
                                           : rules::kHeaderMagicReversed,
              at);
}

bool Reader::Version() {
  if (!Have(4, rules::kHeaderVersionTruncated)) return false;
  const std::uint64_t at = pos_;
  std::uint32_t version = in_.U32(at);
  pos_ += 4;
  RuleIndex rule = rules::kHeaderVersionFuture;
  if (version == 2 || version == 3) {
    rule = rules::kHeaderVersionTwo;
  } else if (version == 0) {
    rule = rules::kHeaderVersionZero;
  } else if (version == 1) {
    rule = rules::kHeaderVersionOne;
    in_.wide = false;
  } else if (__builtin_bswap32(version) == 3) {
    rule = rules::kHeaderVersionBigEndian;
    version = 3;
    in_.swap = true;
  } else if (version > 0xffff) {
    rule = rules::kHeaderVersionGarbage;
  }
  view_.version = version;
  view_.big_endian = in_.swap;
  return Fail(rule, at);
}

bool Reader::Counts() {
  const std::uint64_t word = in_.word();
  const std::uint64_t tensors_at = pos_, kvs_at = pos_ + word;
  for (std::uint64_t* const count : {&tensor_count_, &kv_count_}) {
    if (!Have(word, rules::kHeaderCountsTruncated)) return false;
    *count = in_.Word(pos_);
    pos_ += word;
  }
  const std::uint64_t tensor_size = in_.wide ? 24 : 20;
  const std::uint64_t kv_size = in_.wide ? 13 : 9;
  struct Check {
    bool broken;
    RuleIndex rule;
    std::uint64_t at;
  };
  const bool tensors_fit = tensor_count_ <= left() / tensor_size;
  const bool kvs_fit = kv_count_ <= left() / kv_size;
  const bool both_fit =
      tensors_fit &&
      kv_count_ <= (left() - tensor_count_ * tensor_size) / kv_size;
  const Check checks[] = {
      {tensor_count_ >> 63 != 0, rules::kHeaderTensorCountSignBit, tensors_at},
      {kv_count_ >> 63 != 0, rules::kHeaderKvCountSignBit, kvs_at},
      {!tensors_fit, rules::kHeaderTensorCountExceedsFile, tensors_at},
      {!kvs_fit, rules::kHeaderKvCountExceedsFile, kvs_at},
      {!both_fit, rules::kHeaderCountsExceedFile, kvs_at},
      {tensor_count_ > kCap, rules::kLimitCountsCap, tensors_at},
      {kv_count_ > kCap, rules::kLimitCountsCap, kvs_at},
  };
  for (const Check& check : checks) {
    if (check.broken && !Fail(check.rule, check.at)) return false;
  }
  return true;
}

}  // namespace gguf_internal

GgufResult ParseGguf(const GgufInput& input) {
  return gguf_internal::Reader(input).Run();
}

std::uint64_t GgufDim(const GgufView& view, const GgufTensor& tensor,
                      std::uint32_t index) {
  const gguf_internal::Layout layout{view.prefix.data(), view.version != 1,
                                     view.big_endian};
  return layout.Word(tensor.dims + index * layout.word());
}

}  // namespace WEIGHTPROOF_MUTANT
}  // namespace weightproof::impls
