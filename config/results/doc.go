// Package results makes what leaves the evaluation: configs, defaults and outputs as JSON
// with the pointers of their unknown and sensitive parts, the hosts that attributes select,
// and the verdicts of conditions and checks. An eval.Evaluator or eval.Modules comes in.
package results
