#include "framework/train/analyses.hpp"

#include "framework/text/normalize.hpp"
#include "framework/train/trainer.hpp"

namespace jari {
namespace {

// Parameters that the trial trained keep their values; those that only the analysis declares get first values.
State state_for(const Graph& graph, const Declarations& declarations, const Trial& trial, const State& trained,
                int row) {
  State state(graph, 1);
  initialize(state, 0, declarations, trial);
  for (const State::Entry& entry : state.entries()) {
    if (const State::Entry* known = trained.find(entry.name)) state.write(0, entry, trained.read(row, *known));
  }
  return state;
}

std::vector<std::string> pieces_of(const Tokenizer& tokenizer, Normalization normalization, const std::string& text) {
  std::string scratch;
  PieceList pieces;
  tokenizer.split(normalization == Normalization::nfc ? to_nfc(text, scratch) : text, pieces);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < pieces.size(); ++i) all.emplace_back(pieces[i]);
  return all;
}

// A tokenizer's own pieces are distinct, so that they too are found in the vocabulary, which may hold some of them
// only.
std::vector<std::int32_t> ids_of(const Vocabulary& vocabulary, const std::vector<std::string>& pieces) {
  std::vector<std::int32_t> ids;
  for (const std::string& piece : pieces) {
    const std::optional<std::int32_t> known = vocabulary.find(piece);
    if (const std::optional<std::int32_t> id = known ? known : vocabulary.unknown()) ids.push_back(*id);
  }
  return ids;
}

}  // namespace

std::vector<std::pair<std::string, AnalysisResult>> run_analyses(const TrialPrograms& programs, const Trial& trial,
                                                                 const State& state, int row) {
  const Experiment& experiment = trial.experiment;
  AnalysisContext context;
  context.seed = trial.seed();
  if (experiment.model) context.model = &**experiment.model;
  if (experiment.task) context.vocabulary = (*experiment.task)->vocabulary(programs.corpus());
  if (experiment.train) context.trained_length = experiment.train->length.value_or(0);
  context.table = programs.table();
  if (programs.corpus() != nullptr) {
    const Vocabulary& vocabulary = programs.corpus()->vocabulary;
    context.pieces = [tokenizer = experiment.data->learned_tokenizer(programs.corpus()->model),
                      normalization = experiment.data->normalize](const std::string& text) {
      return pieces_of(*tokenizer, normalization, text);
    };
    context.ids = [&vocabulary, pieces = context.pieces](const std::string& text) {
      return ids_of(vocabulary, pieces(text));
    };
    context.words = vocabulary.pieces();
    context.counts = vocabulary.counts();
  }

  context.weights = [&](const std::string& path) -> std::optional<AnalysisArray> {
    const State::Entry* entry = state.find(path);
    const ParameterDeclaration* declaration = programs.declarations().find(path);
    if (entry == nullptr || declaration == nullptr) return std::nullopt;
    return AnalysisArray{path, entry->type.shape, state.read(row, *entry), declaration->axes};
  };

  context.evaluate = [&](std::int64_t length,
                         const std::function<Value(const BuildContext&)>& build) -> std::optional<AnalysisArray> {
    Graph graph(real_type(experiment.precision), products_of(experiment.precision));
    Declarations declarations;
    const BuildContext build_context{graph,
                                     declarations,
                                     context.vocabulary,
                                     length,
                                     context.trained_length,
                                     /*training=*/false,
                                     programs.corpus()};
    Value value;
    {
      const Graph::Scope scope(graph, "model");
      value = build(build_context);
    }
    if (!value) return std::nullopt;
    State own = state_for(graph, declarations, trial, state, row);
    NamedValues inputs;
    const ResolvedValues resolved(trial.resolved);
    for (const std::string& path : programs.per_trial_paths())
      inputs.push_back({per_trial_input(path), {resolved.number(path)}});
    return AnalysisArray{"", value.shape(), jari::evaluate(graph, value, inputs, &own), {}};
  };

  std::vector<std::pair<std::string, AnalysisResult>> results;
  for (const auto& [name, analysis] : experiment.analyses) results.emplace_back(name, analysis->run(context));
  return results;
}

}  // namespace jari
