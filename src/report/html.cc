// The model as one HTML file. Everything that comes from the evidence is escaped here,
// and nothing in the page may ask for anything: its content security policy names its
// own scripts and style by their hashes, and forbids all else.
#include <fmt/format.h>
#include <openssl/evp.h>

#include <numeric>

#include "analysis/classify.h"
#include "evidence/sha256.h"
#include "report/document.h"
#include "report/embedded.h"
#include "report/model.h"

namespace rollcall::report {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

// JSON inside a script element: only "<" could end it, and it stands in no number.
std::string json_inside_html(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

// A source of the content security policy: 'sha256-<base64>'.
base::Result<std::string> policy_source(std::string_view text) {
  const auto hex = evidence::sha256_hex(text);
  if (!hex) return tl::unexpected(hex.error());
  std::array<unsigned char, 32> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(std::stoi(hex->substr(2 * i, 2), nullptr, 16));
  }
  std::array<unsigned char, 45> base64{};  // 44 characters and a NUL
  const int length = EVP_EncodeBlock(base64.data(), bytes.data(), static_cast<int>(bytes.size()));
  return fmt::format("'sha256-{}'", std::string(base64.begin(), base64.begin() + length));
}

class Page {
 public:
  explicit Page(const ReportModel& model, bool finished) : model_(model), finished_(finished) {}

  std::string body() {
    header();
    text_ += "<main id=\"main\">\n";
    seen();
    identity();
    cost();
    timeline();
    sentences("interpretation", "Interpretation", model_.interpretation,
              "Nothing follows beyond what was seen.");
    sentences("limits", "What this cannot tell", model_.limits, "");
    runs_apart();
    method();
    statistics();
    reproduce();
    text_ += "</main>\n";
    footer();
    return std::move(text_);
  }

 private:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void header() {
    add("<a class=\"skip\" href=\"#main\">Skip to the results</a>\n<header>\n<p class=\"eyebrow\">Rollcall "
        "report</p>\n"
        "<h1>{}</h1>\n",
        escaped(model_.title));
    if (!finished_) text_ += "<p class=\"warning\" role=\"note\">Unfinished experiment</p>\n";
    for (const std::string& paragraph : model_.question)
      add("<p class=\"lead\">{}</p>\n", escaped(paragraph));
    if (!model_.measured_on.empty()) add("<p class=\"on\">{}</p>\n", escaped(model_.measured_on));
    text_ +=
        "<nav aria-label=\"Sections\"><ul>\n"
        "<li><a href=\"#seen\">Result</a></li><li><a href=\"#identity\">Who holds whose PID</a></li>"
        "<li><a href=\"#cost\">Cost</a></li><li><a href=\"#timeline\">Time lines</a></li>"
        "<li><a href=\"#interpretation\">Interpretation</a></li><li><a href=\"#limits\">Limits</a></li>"
        "<li><a href=\"#method\">Method</a></li><li><a href=\"#statistics\">Statistics</a></li>"
        "<li><a href=\"#reproduce\">Derive again</a></li>\n</ul></nav>\n</header>\n";
  }

  void section(std::string_view id, std::string_view heading) {
    add("<section id=\"{0}\" aria-labelledby=\"{0}-h\">\n<h2 id=\"{0}-h\">{1}</h2>\n", id, heading);
  }
  void end_section() { text_ += "</section>\n"; }

  void list(const std::vector<std::string>& sentences, std::string_view css) {
    add("<ul class=\"{}\">\n", css);
    for (const std::string& sentence : sentences) add("<li>{}</li>\n", escaped(sentence));
    text_ += "</ul>\n";
  }

  void bar(const std::array<int, analysis::kClasses.size()>& counts) {
    const int total = std::accumulate(counts.begin(), counts.end(), 0);
    if (total == 0) {
      text_ += "<td></td>";
      return;
    }
    constexpr double kWidth = 100;
    text_ +=
        "<td class=\"share\"><svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
        "aria-hidden=\"true\">";
    double at = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      const double width = kWidth * counts[i] / total;
      if (counts[i] > 0) {
        add("<rect class=\"c-{}\" x=\"{:.2f}\" width=\"{:.2f}\" height=\"10\"/>",
            to_text(analysis::kClasses[i]), at, width);
      }
      at += width;
    }
    text_ += "</svg></td>";
  }

  void table(const ReportTable& table) {
    add("<div class=\"box\" role=\"region\" tabindex=\"0\" "
        "aria-label=\"{0}\"><table>\n<caption>{0}</caption>\n<thead><tr>",
        escaped(table.caption));
    for (const auto& column : table.columns) {
      const auto cls = analysis::class_from_text(column.title);
      add("<th scope=\"col\"{}>{}{}</th>", column.is_number ? " class=\"n\"" : "",
          cls ? fmt::format("<span class=\"key k-{}\"></span>", to_text(*cls)) : "", escaped(column.title));
    }
    if (!table.bars.empty()) text_ += "<th scope=\"col\">share</th>";
    text_ += "</tr></thead>\n<tbody>\n";
    for (size_t r = 0; r < table.rows.size(); ++r) {
      const auto& row = table.rows[r];
      text_ += "<tr>";
      for (size_t i = 0; i < row.size(); ++i) {
        const bool spans = i + 1 == row.size() && row.size() < table.columns.size();
        if (spans) {
          add("<td class=\"note\" colspan=\"{}\">{}</td>", table.columns.size() - i, escaped(row[i]));
        } else {
          add("<td{}>{}</td>", table.columns[i].is_number ? " class=\"n\"" : "", escaped(row[i]));
        }
      }
      if (!table.bars.empty()) bar(table.bars[r]);
      text_ += "</tr>\n";
    }
    text_ += "</tbody></table></div>\n";
  }

  void seen() {
    section("seen", "Result");
    list(model_.findings, "findings");
    if (!model_.classes.rows.empty()) table(model_.classes);
    if (!model_.knowledge.rows.empty()) table(model_.knowledge);
    end_section();
  }

  // A place where the script puts one chart for each condition, or for each topology.
  void panels(std::string_view kind) { add("<div class=\"panels\" data-panels=\"{}\"></div>\n", kind); }

  void chart(std::string_view kind, std::string_view heading, std::string_view explanation) {
    add("<h3>{}</h3>\n<p class=\"how\">{}</p>\n", heading, explanation);
    panels(kind);
  }

  void no_script() {
    text_ +=
        "<noscript><p class=\"warning\">The charts need JavaScript; the tables and sentences do "
        "not.</p></noscript>\n";
  }

  void identity() {
    section("identity", "Who holds whose PID");
    text_ +=
        "<p class=\"how\">Each mark is a worker: across, its own number; up, the number of the worker whose "
        "PID it "
        "discovered. A clean diagonal is right. A mark off the diagonal holds another's PID. Shaded squares "
        "are "
        "the workers of one cache. Workers that hold no worker's PID stand above the matrix.</p>\n";
    no_script();
    panels("matrix");
    end_section();
  }

  void cost() {
    section("cost", "What it cost");
    if (!model_.walls.rows.empty()) table(model_.walls);
    text_ +=
        "<p class=\"foot\">* fewer than 5 runs. Intervals: Student's t on the log scale below 8 runs, "
        "bootstrap from 8.</p>\n";
    if (!model_.added.rows.empty()) table(model_.added);
    chart("wall", "Wall time of each condition",
          "Mean and its 95 % interval; each small tick is a run. Fewer than 5 runs: dashed.");
    chart(
        "ecdf", "Distribution of cuInit",
        "The share of workers whose cuInit returned within a time, all valid runs of a condition together.");
    chart("growth", "Growth with the number of workers",
          "Mean wall time and its 95 % interval, both axes logarithmic.");
    end_section();
  }

  void timeline() {
    section("timeline", "Time lines");
    text_ +=
        "<p class=\"how\">Each line is a worker, from leaving the gate until its workload was done; grouped "
        "by class, in "
        "the order in which they finished.</p>\n";
    panels("timeline");
    end_section();
  }

  void sentences(std::string_view id, std::string_view heading, const std::vector<std::string>& all,
                 std::string_view none) {
    section(id, heading);
    if (all.empty()) {
      add("<p>{}</p>\n", none);
    } else {
      list(all, "sentences");
    }
    end_section();
  }

  void runs_apart() {
    if (model_.invalid.rows.empty() && model_.outliers.rows.empty()) return;
    section("apart", "Runs that stand apart");
    if (!model_.invalid.rows.empty()) table(model_.invalid);
    if (!model_.outliers.rows.empty()) table(model_.outliers);
    end_section();
  }

  void facts(const std::vector<Fact>& all) {
    text_ += "<dl>\n";
    for (const Fact& fact : all) {
      add("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(fact.name), escaped(fact.value));
    }
    text_ += "</dl>\n";
  }

  void method() {
    section("method", "Method");
    facts(model_.method);
    end_section();
    section("environment", "Environment");
    if (model_.environment.empty()) text_ += "<p>Not recorded.</p>\n";
    facts(model_.environment);
    if (!model_.programs.empty()) {
      text_ += "<details><summary>SHA-256 of what took part</summary>\n";
      facts(model_.programs);
      text_ += "</details>\n";
    }
    end_section();
  }

  void statistics() {
    section("statistics", "All statistics");
    text_ +=
        "<p class=\"how\">Invalid runs are in no number. Percentiles of cuInit are those of a run; means are "
        "over runs.</p>\n";
    text_ += "<details><summary>Every measure of every condition</summary>\n";
    table(model_.statistics);
    text_ += "</details>\n";
    end_section();
  }

  void reproduce() {
    section("reproduce", "How to derive it again");
    text_ += "<ol class=\"steps\">\n";
    for (const Step& step : model_.reproduce) {
      add("<li>{}<pre tabindex=\"0\"><code>{}</code></pre></li>\n", escaped(step.what),
          escaped(step.command));
    }
    text_ += "</ol>\n";
    end_section();
  }

  void footer() {
    add("<footer><p>Made by {}. This file holds everything that it shows and asks for nothing.</p>\n"
        "<details><summary>Licences of the inlined libraries</summary><pre "
        "tabindex=\"0\">{}</pre></details></footer>\n",
        escaped(report_generator()), escaped(vega_licences()));
  }

  const ReportModel& model_;
  bool finished_;
  std::string text_;
};

}  // namespace

std::string report_generator() {
  constexpr size_t kShownHexDigits = 12;
  const auto hash = evidence::sha256_hex(vega_script());
  return fmt::format("rollcall {}, vega {}", ROLLCALL_VERSION,
                     hash ? hash->substr(0, kShownHexDigits) : "unknown");
}

base::Result<std::string> html_report(const ReportSource& source) {
  const ReportModel model = build_model(source);
  std::string policy = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src ";
  const auto style = policy_source(page_style());
  const auto vega = policy_source(vega_script());
  const auto script = policy_source(page_script());
  for (const auto* hash : {&style, &vega, &script}) {
    if (!*hash) return tl::unexpected(hash->error());
  }
  policy += *style + "; script-src " + *vega + " " + *script;

  std::string html = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html += fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", policy);
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += "<meta name=\"color-scheme\" content=\"light dark\">\n";
  html += fmt::format("<meta name=\"generator\" content=\"{}\">\n", escaped(report_generator()));
  html += "<link rel=\"icon\" href=\"data:,\">\n";
  html += fmt::format("<title>{}</title>\n<style>", escaped(model.title));
  html.append(page_style()).append("</style>\n</head>\n<body>\n");
  html += Page(model, source.finished).body();
  html += "<script type=\"application/json\" id=\"data\">" + json_inside_html(chart_data(model, source)) +
          "</script>\n";
  html.append("<script>").append(vega_script()).append("</script>\n");
  html.append("<script>").append(page_script()).append("</script>\n</body>\n</html>\n");
  return html;
}

}  // namespace rollcall::report
