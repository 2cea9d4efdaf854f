// Filling in a wp_answer.
#ifndef WEIGHTPROOF_IMPLS_DRIVERS_ANSWER_H_
#define WEIGHTPROOF_IMPLS_DRIVERS_ANSWER_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "impls/abi.h"

namespace weightproof::drivers {

inline constexpr const char* kVerdicts[] = {"accept", "reject", nullptr};
inline constexpr const char* kNoVariants[] = {nullptr};

// Cuts what does not fit.
inline void SetDetail(wp_answer* answer, std::string_view text) {
  const std::size_t n = std::min(text.size(), sizeof answer->detail - 1);
  std::copy_n(text.data(), n, answer->detail);
  answer->detail[n] = '\0';
}

inline void Accept(wp_answer* answer) {
  answer->status = WP_STATUS_OK;
  answer->verdict = WP_ACCEPT;
}

inline void Reject(wp_answer* answer, std::string_view detail) {
  answer->status = WP_STATUS_OK;
  answer->verdict = WP_REJECT;
  SetDetail(answer, detail);
}

inline void NotRun(wp_answer* answer, std::string_view why) {
  answer->status = WP_STATUS_NOT_RUN;
  SetDetail(answer, why);
}

}  // namespace weightproof::drivers

#endif  // WEIGHTPROOF_IMPLS_DRIVERS_ANSWER_H_
