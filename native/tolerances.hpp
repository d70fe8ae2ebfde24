// What counts as zero, as equal and as consistent: all tolerances of the compiled core, and why they have their size.
#pragma once

namespace asnets {

// LM-cut takes costs off operators again and again. What is left of a cost that should be used up is an error of
// rounding, about 2^-53 of the cost for each cut; a share of this size counts as nothing, whatever the unit of costs is.
inline constexpr double kUsedUp = 1e-9;

// A residual that is above ε by this share only is above it by rounding.
inline constexpr double kResidualRounding = 1e-9;

// Logits that differ by less than this share of the largest are equal: so exact is the network in single precision.
inline constexpr float kEqualLogits = 1e-5F;

// The probabilities of a factor's outcomes are fractions that were rounded one by one; their sum is 1 up to this.
inline constexpr double kProbabilitySum = 1e-9;

// A shield excludes an action if another one is better by more than this: differences that are smaller make no policy worse.
inline constexpr double kShieldMargin = 1e-6;

// The probabilities that a policy gives may be sums in single precision, over any number of actions.
inline constexpr double kPolicySum = 1e-4;

}  // namespace asnets
