// Nothing here may sound like success where a number is not known: that all of a few are
// right is said with how many do not know it, and why.
#include "report/knowledge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/text_table.h"
#include "report/wording.h"

namespace rollcall::report {
namespace {

using analysis::Condition;
using analysis::ExperimentSummary;
using analysis::Knowledge;
using analysis::NumberKnowledge;

constexpr size_t kMaxWordWidth = 40;  // of a tier or a reason: the records may hold any text

// "240 broker, 10 challenge": the most frequent first, and not all of a long list.
std::string counted(const std::map<std::string, int>& words, const char* separator = ", ") {
  constexpr size_t kMaxShown = 3;
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [word, count] : words) sorted.emplace_back(-count, printable(word, kMaxWordWidth));
  std::sort(sorted.begin(), sorted.end());
  std::string text;
  for (size_t i = 0; i < std::min(sorted.size(), kMaxShown); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : separator, -sorted[i].first, sorted[i].second);
  }
  return sorted.size() > kMaxShown ? text + separator + "…" : text;
}

// "broker" where one tier proved them all, else with counts; empty where none is told.
std::string tiers_text(const NumberKnowledge& number) {
  const bool by_one = number.tiers.size() == 1 && number.tiers.begin()->second == number.right;
  return by_one ? printable(number.tiers.begin()->first, kMaxWordWidth) : counted(number.tiers);
}

// ", 2 hold a wrong one, 3 could not be resolved": what is neither known nor said to be unknown.
std::string faults_text(const NumberKnowledge& number) {
  std::string text;
  if (number.wrong > 0)
    text += fmt::format(", {} hold{} a wrong one", number.wrong, number.wrong == 1 ? "s" : "");
  if (number.unresolved > 0) text += fmt::format(", {} could not be resolved", number.unresolved);
  return text;
}

std::string in_parentheses(const std::string& first, const std::string& second) {
  if (first.empty() && second.empty()) return {};
  return fmt::format(" ({}{}{})", first, first.empty() || second.empty() ? "" : "; ", second);
}

// "(250 of 250, challenge)"; the reasons of those that do not know it, where there are some.
std::string share_text(const NumberKnowledge& number, int workers) {
  const std::string tiers = tiers_text(number);
  return fmt::format(" ({} of {}{}{})", number.right, workers, tiers.empty() ? "" : ", ", tiers);
}

std::string host_clause(const NumberKnowledge& host, const std::string& arm, int workers) {
  if (host.right == workers) {
    return fmt::format("every {} worker knows its own host PID{}", arm, share_text(host, workers));
  }
  if (host.right == 0) {
    return fmt::format("no {} worker knows its host PID{}{}", arm, faults_text(host),
                       in_parentheses("", counted(host.reasons)));
  }
  return fmt::format("{} of {} {} workers know their own host PID{}{}", host.right, workers, arm,
                     faults_text(host), in_parentheses(tiers_text(host), counted(host.reasons)));
}

std::string nvml_clause(const NumberKnowledge& nvml, int workers) {
  if (nvml.right == workers) return "all know their own NVML PID" + share_text(nvml, workers);
  if (nvml.right == 0) {
    return fmt::format("the NVML PID is known to none{}{}", faults_text(nvml),
                       in_parentheses("", counted(nvml.reasons)));
  }
  return fmt::format("{} of {} know their own NVML PID{}{}", nvml.right, workers, faults_text(nvml),
                     in_parentheses(tiers_text(nvml), counted(nvml.reasons)));
}

}  // namespace

std::vector<const Condition*> conditions_with_knowledge(const ExperimentSummary& summary) {
  std::vector<const Condition*> result;
  for (const Condition& c : summary.conditions) {
    if (c.knowledge) result.push_back(&c);
  }
  return result;
}

std::string known_text(const NumberKnowledge& number) {
  // What is wrong stands first, where no narrow table cuts it off.
  std::string text = number.wrong > 0 ? fmt::format("{} wrong, ", number.wrong) : std::string();
  int untold = number.right;
  for (const auto& [tier, count] : number.tiers) untold -= count;
  text += counted(number.tiers);
  if (number.tiers.empty() || untold > 0)
    text += fmt::format("{}{}", number.tiers.empty() ? "" : ", ", untold);
  if (number.unresolved > 0) text += fmt::format(", {} unresolved", number.unresolved);
  return text + in_parentheses("", counted(number.reasons));
}

std::string knowledge_clause(const Condition& c) {
  const std::string arm = printable(c.arm, kMaxArmWidth);
  const auto& [host, nvml] = *c.knowledge;
  const auto nothing = [](const NumberKnowledge& n) { return n.right + n.wrong + n.unresolved == 0; };
  if (nothing(host) && nothing(nvml)) {
    return fmt::format("no {} worker knows its PID: neither the host's{} nor NVML's{}", arm,
                       in_parentheses("", counted(host.reasons)), in_parentheses("", counted(nvml.reasons)));
  }
  return host_clause(host, arm, c.workers) + "; " + nvml_clause(nvml, c.workers);
}

std::string knowledge_section(const ExperimentSummary& summary) {
  constexpr size_t kMaxArm = 24;
  constexpr size_t kFixedWidth = 17;  // the column of the workers, and the gaps of all
  const auto conditions = conditions_with_knowledge(summary);
  if (conditions.empty()) return {};
  const bool mixed = has_mixed_workloads(summary);
  TextTable table({{"topology", Align::kLeft},
                   {"arm", Align::kLeft},
                   {"workers"},
                   {"host PID", Align::kLeft},
                   {"NVML PID", Align::kLeft}});
  const auto arm_of = [&](const Condition& c) {
    return printable(arm_text(c.arm, c.workload, c.hold, mixed), kMaxArm);
  };
  size_t topology_width = std::string_view("topology").size();
  size_t arm_width = 0;
  for (const Condition* c : conditions) {
    topology_width = std::max(topology_width, c->topology.text().size());
    arm_width = std::max(arm_width, std::min(arm_of(*c).size(), kMaxArm));
  }
  const size_t room = (kMaxColumns - kFixedWidth - topology_width - arm_width) / 2;
  for (const Condition* c : conditions) {
    table.add({c->topology.text(), arm_of(*c), fmt::to_string(c->workers),
               printable(known_text(c->knowledge->host), room),
               printable(known_text(c->knowledge->nvml), room)});
  }
  return "\nWhat the workers know: how many are right, by what proved it (why the others do not know)\n" +
         table.text();
}

}  // namespace rollcall::report
