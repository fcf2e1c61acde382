#pragma once
// The loss of negative sampling (Mikolov, Sutskever, Chen, Corrado, Dean 2013): a vector's scores with the rows of its
// targets are to be large, those with the rows of random other ids small.
//
// negative_sampling: hidden [batch, width], table [vocabulary, width], targets i32 [batch, count], negatives
//   -> loss, pairs, target_slopes, negative_slopes.
// A pair is a target that is not negative (-1 stands for none). With P pairs and s = hidden . row,
//   loss = 1/P sum over pairs of (softplus(-s of the target) + weight * mean over its negatives of softplus(s)).
// negatives are i32 [shared] (the same for all pairs), [batch, K] (for all targets of a row of `hidden`) or
// [batch, count, K] (of each pair); a negative below 0 is left out of the sum, not of the number that divides it.
// Slopes are the derivatives of the loss by the scores, shaped like targets, and like negatives but for shared ones:
// [batch, shared]. With no pair all is zero.
//
// negative_sampling_gradient: hidden, table, targets, negatives, target_slopes, negative_slopes, upstream (scalar)
//   -> the gradient of hidden; that of the table as combine_rows gives it: rows [n, width], their ids i32 [n], their
//   squares. Where the caller knows that fewer ids of the table are distinct than there are ids, n is that number; a
//   batch with more of them has NaN for its squares.

#include "framework/graph/op.hpp"

namespace jari {

struct NegativeSamplingAttributes {
  double weight = 1;           // of the mean over the negatives; their number gives word2vec's sum
  std::int64_t most_rows = 0;  // distinct ids of targets and negatives, at most; 0: nothing is known

  template <class F>
  void fields(F& f) {
    f("weight", weight);
    f("most_rows", most_rows);
  }
};

// How shapes are read: the same for shape rules and kernels.
struct NegativeSamplingSizes {
  NegativeSamplingSizes(const Shape& hidden, const Shape& table, const Shape& targets, const Shape& negatives,
                        const NegativeSamplingAttributes& attributes)
      : batch(hidden[0]),
        width(hidden[1]),
        vocabulary(table[0]),
        count(targets[1]),
        sampled(negatives[negatives.rank() - 1]),
        shared(negatives.rank() == 1),
        by_pair(negatives.rank() == 3),
        negatives_a_row(by_pair ? count * sampled : sampled),
        ids(batch * count + (shared ? sampled : batch * negatives_a_row)),
        rows(ids < vocabulary ? ids : vocabulary) {
    if (attributes.most_rows > 0 && attributes.most_rows < rows) rows = attributes.most_rows;
  }

  std::int64_t batch, width, vocabulary, count;
  std::int64_t sampled;  // negatives that a target is compared with
  bool shared, by_pair;
  std::int64_t negatives_a_row;  // scores of a row of `hidden` with negatives
  std::int64_t ids;              // targets and negatives in all
  std::int64_t rows;             // most rows of the table that can have a gradient
};

}  // namespace jari
