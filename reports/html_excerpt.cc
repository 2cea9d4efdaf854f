#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "reports/excerpt.h"
#include "reports/html.h"
#include "reports/text.h"

namespace weightproof::reports {
namespace {

constexpr std::size_t kLine = 16;

// The field a byte belongs to, by index, or nothing.
std::optional<std::size_t> FieldAt(const Json& fields, std::uint64_t at) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto offset = fields[i].at("offset").get<std::uint64_t>();
    if (at >= offset && at - offset < fields[i].at("size").get<std::uint64_t>())
      return i;
  }
  return std::nullopt;
}

class HexLines {
 public:
  explicit HexLines(const Json& excerpt)
      : bytes_(FromHex(Text(excerpt, "hex"))),
        start_(excerpt.at("start").get<std::uint64_t>()),
        file_size_(excerpt.at("file_size").get<std::uint64_t>()),
        fields_(excerpt.at("fields")) {
    if (excerpt.at("at").is_number()) {
      at_ = excerpt.at("at").get<std::uint64_t>();
    }
  }

  std::string Render() {
    for (std::size_t i = 0; i < bytes_.size(); i += kLine) Line(i);
    if (at_ && *at_ >= file_size_) {
      out_ += fmt::format(
          "<span class=\"o\">{:08x}</span>  <mark>end of file</mark>\n",
          file_size_);
    }
    return std::move(out_);
  }

 private:
  void Line(std::size_t begin) {
    out_ += fmt::format("<span class=\"o\">{:08x}</span> ", start_ + begin);
    const std::size_t end = std::min(begin + kLine, bytes_.size());
    std::optional<std::size_t> open;
    for (std::size_t i = begin; i < begin + kLine; ++i) {
      const auto field = i < end ? FieldAt(fields_, start_ + i) : std::nullopt;
      if (i != begin && field != open && open) out_ += "</span>";
      out_ += i == begin + 8 ? "  " : " ";
      if (field && (i == begin || field != open)) Open(*field);
      open = field;
      if (i >= end) {
        out_ += "  ";
      } else if (at_ == start_ + i) {
        out_ += fmt::format("<mark>{:02x}</mark>", bytes_[i]);
      } else {
        out_ += fmt::format("{:02x}", bytes_[i]);
      }
    }
    if (open) out_ += "</span>";
    out_ += "  ";
    for (std::size_t i = begin; i < end; ++i) {
      const char c = static_cast<char>(bytes_[i]);
      out_ += c >= 0x20 && c < 0x7f ? HtmlEscape(std::string_view(&c, 1)) : ".";
    }
    out_ += '\n';
  }

  void Open(std::size_t field) {
    out_ += fmt::format("<span class=\"f{}\" title=\"{} = {}\">", field % 2,
                        HtmlEscape(Text(fields_[field], "path")),
                        HtmlEscape(Text(fields_[field], "value")));
  }

  std::vector<std::uint8_t> bytes_;
  std::uint64_t start_;
  std::uint64_t file_size_;
  std::optional<std::uint64_t> at_;
  const Json& fields_;
  std::string out_;
};

}  // namespace

std::string ExcerptHtml(const Json& excerpt) {
  return HexLines(excerpt).Render();
}

std::string FieldsHtml(const Json& excerpt) {
  const Json& fields = excerpt.at("fields");
  if (fields.empty()) return "";
  std::optional<std::size_t> marked;
  if (excerpt.at("at").is_number()) {
    marked = FieldAt(fields, excerpt.at("at").get<std::uint64_t>());
  }
  std::string out = "<table class=\"fields mono\">";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string path = HtmlEscape(Text(fields[i], "path"));
    out += fmt::format(
        "<tr><td class=\"n soft\">{}</td><td class=\"n soft\">+{}</td><td>{}"
        "</td><td>{}</td></tr>",
        fields[i].at("offset").get<std::uint64_t>(),
        fields[i].at("size").get<std::uint64_t>(),
        marked == i ? "<mark>" + path + "</mark>" : path,
        HtmlEscape(Shorten(Text(fields[i], "value"), 60)));
  }
  return out + "</table>";
}

}  // namespace weightproof::reports
