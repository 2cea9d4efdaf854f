// The report as one self-contained HTML page.
#ifndef WEIGHTPROOF_REPORTS_HTML_H_
#define WEIGHTPROOF_REPORTS_HTML_H_

#include <nlohmann/json.hpp>
#include <string>

#include "reports/view.h"

namespace weightproof::reports {

// The page. It loads nothing from anywhere, works without scripts, and all
// text in it is escaped. Details are given for failures only, and a vector's
// bytes once, so that its size is bounded by vectors + rows.
std::string RenderHtml(const Json& report);

// The picture of implementations x rules, as inline SVG.
std::string MatrixSvg(const ReportView& view);

// An excerpt (excerpt.h) as the inside of a <pre>, fields shaded, and as a
// table of its fields.
std::string ExcerptHtml(const Json& excerpt);
std::string FieldsHtml(const Json& excerpt);

}  // namespace weightproof::reports

#endif  // WEIGHTPROOF_REPORTS_HTML_H_
