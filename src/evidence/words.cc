// The words that stand for the enumerators in files and on the command line.
// One list per enumeration serves both directions, so that they cannot differ.
#include <array>

#include "evidence/records.h"

namespace rollcall::evidence {
namespace {

template <typename Enum>
struct Word {
  Enum value;
  std::string_view text;
};

template <typename Enum>
constexpr auto kWords = nullptr;

template <>
constexpr auto kWords<IdentityKind> = std::to_array<Word<IdentityKind>>({
    {IdentityKind::kNone, "none"},
    {IdentityKind::kNvml, "nvml"},
    {IdentityKind::kHost, "host"},
    {IdentityKind::kBoth, "both"},
});
template <>
constexpr auto kWords<Exercise> = std::to_array<Word<Exercise>>({
    {Exercise::kCuInit, "cuinit"},
    {Exercise::kProbe, "probe"},
    {Exercise::kNvmlInit, "nvml_init"},
});
template <>
constexpr auto kWords<Workload> = std::to_array<Word<Workload>>({
    {Workload::kInit, "init"},
    {Workload::kContext, "context"},
});
template <>
constexpr auto kWords<Hold> = std::to_array<Word<Hold>>({
    {Hold::kNone, "none"},
    {Hold::kAll, "all"},
});
template <>
constexpr auto kWords<Isolation> = std::to_array<Word<Isolation>>({
    {Isolation::kNone, "none"},
    {Isolation::kPid, "pid"},
});
template <>
constexpr auto kWords<NodeKind> = std::to_array<Word<NodeKind>>({
    {NodeKind::kSimulated, "sim"},
    {NodeKind::kReal, "real"},
    {NodeKind::kUnknown, "unknown"},
});
template <>
constexpr auto kWords<NvmlView> = std::to_array<Word<NvmlView>>({
    {NvmlView::kUnknown, "unknown"},
    {NvmlView::kGlobal, "global"},
    {NvmlView::kTranslated, "translated"},
});
template <>
constexpr auto kWords<Fate> = std::to_array<Word<Fate>>({
    {Fate::kFinished, "finished"},
    {Fate::kDied, "died"},
    {Fate::kDeadline, "deadline"},
    {Fate::kAborted, "aborted"},
    {Fate::kNotStarted, "not_started"},
    {Fate::kNotObserved, "not_observed"},
});
template <>
constexpr auto kWords<Stage> = std::to_array<Word<Stage>>({
    {Stage::kNone, "none"},
    {Stage::kStarted, "started"},
    {Stage::kReady, "ready"},
    {Stage::kReleased, "released"},
    {Stage::kInitialised, "initialised"},
    {Stage::kFinished, "finished"},
});
template <>
constexpr auto kWords<DiscoveryState> = std::to_array<Word<DiscoveryState>>({
    {DiscoveryState::kNoEvidence, "no_evidence"},
    {DiscoveryState::kAssigned, "assigned"},
    {DiscoveryState::kFailed, "failed"},
    {DiscoveryState::kContradicting, "contradicting"},
});

template <typename Enum>
std::string_view text_of(Enum value) {
  for (const auto& word : kWords<Enum>) {
    if (word.value == value) return word.text;
  }
  return "invalid";  // no enumerator; the reader refuses it
}

}  // namespace

std::string_view to_text(IdentityKind value) {
  return text_of(value);
}
std::string_view to_text(Exercise value) {
  return text_of(value);
}
std::string_view to_text(Workload value) {
  return text_of(value);
}
std::string_view to_text(Hold value) {
  return text_of(value);
}
std::string_view to_text(Isolation value) {
  return text_of(value);
}
std::string_view to_text(NodeKind value) {
  return text_of(value);
}
std::string_view to_text(NvmlView value) {
  return text_of(value);
}
std::string_view to_text(Fate value) {
  return text_of(value);
}
std::string_view to_text(Stage value) {
  return text_of(value);
}
std::string_view to_text(DiscoveryState value) {
  return text_of(value);
}

template <typename Enum>
std::optional<Enum> from_text(std::string_view text) {
  for (const auto& word : kWords<Enum>) {
    if (word.text == text) return word.value;
  }
  return std::nullopt;
}

template std::optional<IdentityKind> from_text(std::string_view);
template std::optional<Exercise> from_text(std::string_view);
template std::optional<Workload> from_text(std::string_view);
template std::optional<Hold> from_text(std::string_view);
template std::optional<Isolation> from_text(std::string_view);
template std::optional<NodeKind> from_text(std::string_view);
template std::optional<NvmlView> from_text(std::string_view);
template std::optional<Fate> from_text(std::string_view);
template std::optional<Stage> from_text(std::string_view);
template std::optional<DiscoveryState> from_text(std::string_view);

}  // namespace rollcall::evidence
