// Package watch decides when each recorded resource is queried, and when drift is
// repaired. It owns the time: polls, events, back-off, hold-back. Generations of
// resources come in, with a Looker, a Repairer and a Source of events; what happened
// goes out, one Event after another. It knows no files, no containers and no flags:
// the implementations of the interfaces here do.
//
// One goroutine owns everything that changes. Queries, the one repair and the
// processes that watch run with it, and send back their results:
//
//	generation   takes over the resources of a new generation
//	start        starts the queries and the repair that are due
//	`looked`     compares the result of a query with the last one
//	repaired     handles the outcome of a repair; holds back the next
//	read         reads what processes have reported: one note for each, however many events
package watch
