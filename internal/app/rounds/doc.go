// Package rounds continues with an apply whose plan could not show all: the keys of a for_each, count or enabled followed from
// what did not exist yet. The plan has deferred such a block as a whole, with all that depends on it. When that plan is
// carried out, the same manifest is planned again, with the same variables and images and what is known now. That plan is the
// next round of the same run, under the same lock, in the same journal, and with one report.
//
// The types, in the order in which they are made:
//
//	config.Unknown  a block whose instances stay unknown, and the references that make them so
//	plan.Later      what a plan defers to a later round: blocks, what depends on them, and what is recorded of both
//	stage.Ran       a run whose journal is still open
//	rounds.Next     the plan of the next round, without what a round never does, or why there is none
//	report.Report   of all rounds together; what was never reached is in it as not started
//
// A round creates and updates. What it would destroy, replace or forget is left for the next plan. Policies judge each
// round before it begins, and its id is that of the plan with a number. Each round must make the instances of a
// deferred block known, and a block that is known once stays so: therefore rounds end.
package rounds
